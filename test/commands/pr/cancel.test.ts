import { describe, expect, test } from 'vitest'
import { type Answer, mergeq, type Seen, type Setting } from '../../support/harness.ts'
import { bodiesOf, namesOf, where } from '../../support/queue-files.ts'

const cancel = (words: string, answer: (seen: Seen) => Answer, setting: Setting = {}) =>
  mergeq(`pr cancel ${words} ${where}`, { answer, ...setting })
const ok = () => ({ body: 'OK' })

describe('`pr cancel`', () => {
  test('removes a pull request from the queue with one request, and says so on a terminal', async () => {
    const { code, out, err, requests } = await cancel('7', ok, { terminal: true })
    expect({ code, out, err }).toEqual({
      code: 0,
      out: 'Cancelled #7: removed from the queue for main of acme/web.\n',
      err: '',
    })
    const repo = { host: 'github.com', owner: 'acme', name: 'web' }
    expect(namesOf(requests)).toEqual(['cancelPullRequest'])
    expect(bodiesOf(requests, 'cancelPullRequest')).toEqual([
      { repo, targetBranch: 'main', pr: { number: 7 } },
    ])
  })

  test('has a receipt for each pull request; one that is not queued ends with exit code 5', async () => {
    const answer = ({ body }: Seen) => (body.includes('"number":8') ? { status: 404 } : ok())
    const { code, out } = await cancel('7 8 --yes', answer)
    expect({
      code,
      rows: out
        .trimEnd()
        .split('\n')
        .map(row => row.split('\t').slice(0, 3)),
    }).toEqual({
      code: 5,
      rows: [
        ['7', 'true', 'confirmed'],
        ['8', 'false', 'not-applied'],
      ],
    })
  })

  test('reads what several pull requests are before it asks a person', async () => {
    const answer = ({ path, body }: Seen) => {
      if (!path.endsWith('/getSubmittedPullRequest')) return ok()
      const state = JSON.parse(body).pr.number === 7 ? 'testing' : 'merged'
      return { body: JSON.stringify({ state, isCurrentlySubmittedToQueue: state === 'testing' }) }
    }
    const person = { terminal: true, inputTerminal: true, typed: ['n'] }
    const { code, err, requests } = await cancel('7 8', answer, person)
    expect({ code, names: namesOf(requests) }).toEqual({
      code: 2,
      names: ['getSubmittedPullRequest', 'getSubmittedPullRequest'],
    })
    expect(err).toContain('This cancels 1 of 2 pull requests; 1 is not queued:')
  })
})

test('a question about nothing is not asked', async () => {
  const states: Readonly<Record<number, string>> = { 12: 'failed', 13: 'merged', 14: 'cancelled' }
  const { code, err, requests } = await mergeq('pr cancel 12 13 14 15 -R acme/web -b main', {
    terminal: true,
    inputTerminal: true,
    columns: 120,
    answer: ({ body }) => {
      const { number } = JSON.parse(body).pr
      const state = states[number]
      return state === undefined
        ? { status: 404 }
        : { body: JSON.stringify({ prNumber: number, state, isCurrentlySubmittedToQueue: false }) }
    },
  })
  expect({ code, err }).toEqual({
    code: 5,
    err: expect.stringMatching(
      /Nothing to cancel: #12 failed, #13 merged, #14 was cancelled, #15 is not in the queue\.\n$/,
    ),
  })
  expect(requests.some(({ path }) => path.endsWith('cancelPullRequest'))).toBe(false)
})
