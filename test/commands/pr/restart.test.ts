import { describe, expect, test } from 'vitest'
import { type Answer, mergeq, type Seen, type Setting } from '../../support/harness.ts'
import { bodiesOf, namesOf, where } from '../../support/queue-files.ts'

const restart = (words: string, answer: (seen: Seen) => Answer, setting: Setting = {}) =>
  mergeq(`pr restart ${words} ${where}`, { answer, ...setting })

const person: Setting = { terminal: true, env: { NO_COLOR: '1' } }

describe('`pr restart`', () => {
  test('asks for new tests with one request, and says so on a terminal', async () => {
    const { code, out, err, requests } = await restart('7', () => ({ body: 'OK' }), person)
    expect({ code, out, err }).toEqual({
      code: 0,
      out: 'Requested a restart of the tests of #7 in the queue for main of acme/web.\n',
      err: '',
    })
    const repo = { host: 'github.com', owner: 'acme', name: 'web' }
    expect(namesOf(requests)).toEqual(['restartTestsOnPullRequest'])
    expect(bodiesOf(requests, 'restartTestsOnPullRequest')).toEqual([
      { repo, targetBranch: 'main', pr: { number: 7 } },
    ])
  })

  test.each([
    ['merged', 'is already merged', false],
    ['failed', 'has already failed', true],
    ['cancelled', 'is already cancelled', true],
  ])(
    'of a pull request that is %s says so on a terminal, and how to test it again',
    async (state, said, leads) => {
      const merged = { state, isCurrentlySubmittedToQueue: false }
      const answer = ({ path }: Seen) =>
        path.endsWith('/getSubmittedPullRequest')
          ? { body: JSON.stringify(merged) }
          : { status: 400, body: 'not queued' }
      const { code, out, err } = await restart('7', answer, { ...person, columns: 200 })
      expect({ code, out }).toEqual({ code: 6, out: '' })
      expect(err).toContain(`mergeq: #7 ${said}.\n`)
      expect(err.includes('submit it: mergeq pr submit 7 --repo acme/web --target-branch main\n')).toBe(leads)
    },
  )
})
