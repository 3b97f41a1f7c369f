import { describe, expect, test } from 'vitest'
import { expectUsageError } from '../../support/command-checks.ts'
import { frozenBranches, openFreeze } from '../../support/freeze.ts'

const pauseAll = 'queue pause --all --record f.json --yes'
const resumeAll = 'queue resume --from f.json --yes'
const restoredAtNoon = { restored: '2026-01-05T12:00:00.000Z' }

describe('queue resume --from the record of a freeze', () => {
  const recorded = (before: string, after = 'PAUSED', more = {}) =>
    new Map([
      ['f.json', JSON.stringify([{ repo: 'acme/web', targetBranch: 'main', before, after, ...more }])],
    ])

  test('notes when each queue was restored, and a second time finds them unchanged', async () => {
    const freeze = openFreeze()
    await freeze.mergeq(pauseAll)
    await freeze.mergeq(resumeAll)
    expect(freeze.row('main')).toMatchObject(restoredAtNoon)
    freeze.clock.now += 60_000
    const { code, out } = await freeze.mergeq(resumeAll)
    expect({ code, out }).toEqual({
      code: 0,
      out: frozenBranches
        .map(
          branch =>
            `github.com/acme/web\t${branch}\tunchanged\tRUNNING\tRUNNING\tThe queue for ${branch} of acme/web was already running.\n`,
        )
        .join(''),
    })
    expect(freeze.row('main')).toMatchObject(restoredAtNoon)
  })

  test('leaves a queue alone that somebody paused after it was restored', async () => {
    const freeze = openFreeze()
    await freeze.mergeq(pauseAll)
    await freeze.mergeq(resumeAll)
    freeze.states.main = 'paused'
    const { code, err } = await freeze.mergeq(resumeAll)
    expect({ code, main: freeze.states.main }).toEqual({ code: 14, main: 'paused' })
    expect(err).toContain('The queue for main of acme/web is paused again since it was restored;')
  })

  test.each([
    ['running', 'paused', 'paused', 0, 'running', 'changed'],
    ['DRAINING', 'PAUSED', 'paused', 0, 'draining', 'changed'],
    ['PAUSED', 'PAUSED', 'paused', 0, 'paused', 'unchanged'],
    ['RUNNING', 'PAUSED', 'running', 0, 'running', 'unchanged'],
    ['SWITCHING_MODES', 'PAUSED', 'paused', 0, 'running', 'changed'],
    ['switching_modes', 'PAUSED', 'switching_modes', 0, 'switching_modes', 'unchanged'],
    ['SWITCHING_MODES', 'PAUSED', 'running', 0, 'running', 'unchanged'],
    ['locked', 'PAUSED', 'paused', 14, 'paused', 'skipped'],
    ['locked', 'PAUSED', 'Locked', 0, 'Locked', 'unchanged'],
    ['', 'PAUSED', 'paused', 14, 'paused', 'skipped'],
    ['RUNNING', 'PAUSED', 'draining', 14, 'draining', 'skipped'],
    ['RUNNING', 'PAUSED', 'locked', 14, 'locked', 'skipped'],
    ['RUNNING', 'PAUSED', '', 14, '', 'skipped'],
  ])('%s before, %s after, %s now: ends with %i, %s and %s', async (...row) => {
    const [before, after, now, exit, then, result] = row
    const freeze = openFreeze({ main: now })
    freeze.disk = recorded(before, after)
    const { code, out } = await freeze.mergeq(`${resumeAll} --json`)
    expect({ code, main: freeze.states.main, row: JSON.parse(out)[0] }).toMatchObject({
      code: exit,
      main: then,
      row: { ok: exit === 0, result },
    })
    expect(freeze.row('main')?.restored !== undefined).toBe(exit === 0)
  })

  test('restores a file that cannot be written, and warns once', async () => {
    const freeze = openFreeze()
    await freeze.mergeq(pauseAll)
    const { code, err } = await freeze.mergeq(resumeAll, {
      onChange: how => {
        if (how === 'replace') throw new Error('read-only file system')
      },
    })
    expect({ code, states: freeze.states }).toEqual({
      code: 0,
      states: { main: 'running', next: 'running', docs: 'running' },
    })
    expect(err.match(/read-only/g)).toHaveLength(1)
    expect(err).toContain(
      'mergeq: f.json could not be written: read-only file system. The states are restored all the same.\n',
    )
  })

  test('reads a record from standard input, which has no lock', async () => {
    const freeze = openFreeze({ main: 'paused' })
    const { code, err } = await freeze.mergeq('queue resume --from - --yes', {
      input: recorded('RUNNING').get('f.json') ?? '',
    })
    expect({ code, err, states: freeze.states }).toEqual({
      code: 0,
      err: '1 queue: 1 changed.\n',
      states: { main: 'running' },
    })
  })

  test('a terminal has a short row for a queue that was skipped, and says why below', async () => {
    const freeze = openFreeze({ main: 'draining' })
    freeze.disk = recorded('RUNNING')
    const { out, err } = await freeze.mergeq(resumeAll, {
      terminal: true,
      columns: 120,
      env: { NO_COLOR: '1' },
    })
    expect(out).toMatch(/^acme\/web +main +skipped/m)
    expect(err).toContain('The queue for main of acme/web is draining, not paused as in the record;')
  })

  const row = { repo: 'acme/web', targetBranch: 'main', before: 'RUNNING', after: 'PAUSED' }
  test.each<readonly [flags: string, record: readonly object[] | undefined, message: string]>([
    ['--yes --all', [row], '--from and --all cannot be used together.'],
    ['--yes -R acme/web', [row], '--repo'],
    ['--yes --record r.json', [row], '--record'],
    ['', [row], 'standard input is not a terminal'],
    ['--yes', undefined, 'f.json cannot be read: no such file: f.json.\n  Check the file name'],
    ['--yes', [{}], 'f.json is not a record of states.'],
    ['--yes', [row, { ...row, repo: 'Acme/web' }], 'f.json has the queue for main of Acme/web twice.'],
  ])('%s with the record %j is a usage error, and nothing is sent', async (flags, record, message) => {
    const freeze = openFreeze({ main: 'paused' })
    if (record !== undefined) freeze.disk.set('f.json', JSON.stringify(record))
    expectUsageError(await freeze.mergeq(`queue resume --from f.json ${flags}`), message)
  })
})
