import { describe, expect, test } from 'vitest'
import { mergeq, type Setting } from '../../support/harness.ts'
import { bodiesOf, namesOf, queueThat, where } from '../../support/queue-files.ts'

const drain = (setting: Setting) => mergeq(`queue drain ${where}`, { answer: queueThat(), ...setting })

describe('`queue drain`', () => {
  test('sets the state with one request where only a script reads', async () => {
    const { code, err, requests } = await drain({})
    expect({ code, err, names: namesOf(requests) }).toEqual({ code: 0, err: '', names: ['updateQueue'] })
    expect(bodiesOf(requests, 'updateQueue')).toEqual([
      {
        repo: { host: 'github.com', owner: 'acme', name: 'web' },
        targetBranch: 'main',
        state: 'DRAINING',
      },
    ])
  })

  test('reads the queue on a terminal, and says what becomes of its pull requests', async () => {
    const { code, out, err, requests } = await drain({ terminal: true, columns: 120 })
    expect({ code, out, err }).toEqual({
      code: 0,
      out: 'Draining main of acme/web: no pull requests are queued.\n',
      err: '',
    })
    expect(namesOf(requests)).toEqual(['getQueue', 'updateQueue'])
  })

  test('of a queue that does not exist ends with exit code 5', async () => {
    const { code, out, err } = await drain({ answer: () => ({ status: 404 }) })
    expect({ code, out }).toEqual({
      code: 5,
      out: '\tfalse\tnot-applied\tacme/web has no queue for main.\n',
    })
    expect(err).toMatch(/^mergeq: acme\/web has no queue for main\.\n/)
  })
})
