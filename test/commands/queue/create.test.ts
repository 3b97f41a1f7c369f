import { describe, expect, test } from 'vitest'
import { mergeq } from '../../support/harness.ts'
import { bodiesOf, namesOf, where } from '../../support/queue-files.ts'

const create = (status: number, terminal: boolean, flags = '') =>
  mergeq(`queue create ${where} ${flags}`, { answer: () => ({ status, body: 'OK' }), terminal })

describe('`queue create`', () => {
  test('creates the queue with one request, and says so on a terminal', async () => {
    const { code, out, err, requests } = await create(200, true, '--mode parallel')
    expect({ code, out, err }).toEqual({ code: 0, out: 'Created the queue for main of acme/web.\n', err: '' })
    const repo = { host: 'github.com', owner: 'acme', name: 'web' }
    expect(namesOf(requests)).toEqual(['createQueue'])
    expect(bodiesOf(requests, 'createQueue')).toEqual([{ repo, targetBranch: 'main', mode: 'parallel' }])
  })

  test('that is refused ends with exit code 6 and a receipt', async () => {
    const { code, out, requests } = await create(400, false, '--json')
    expect({ code, requests: requests.length }).toEqual({ code: 6, requests: 1 })
    expect(JSON.parse(out)).toMatchObject({
      operation: 'createQueue',
      targetBranch: 'main',
      ok: false,
      delivery: 'not-applied',
      exit: 6,
    })
  })
})
