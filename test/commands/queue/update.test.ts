import { expect, test } from 'vitest'
import { queueEnv as env, mergeq, type Setting } from '../../support/harness.ts'
import { live, namesOf, queueThat } from '../../support/queue-files.ts'

const update = (flags: string, setting: Setting = {}) =>
  mergeq(`queue update ${flags}`, { answer: queueThat(), terminal: true, columns: 200, env, ...setting })

test.each([
  ['--concurrency 5 --batch', '--concurrency 1 --no-batch'],
  ['--state paused --set futureThing=2', '--state running --set futureThing=1'],
  ['--required-status ci', '--delete-required-statuses'],
  ['--delete-required-statuses --enqueueing-label now', "--required-status ci --enqueueing-label 'go!'"],
])('after `queue update %s` a terminal shows the command that undoes it', async (flags, undo) => {
  const hasStatuses = flags.startsWith('--delete')
  const before = {
    ...live,
    futureThing: 1,
    enqueueingLabel: 'go!',
    requiredStatuses: hasStatuses ? ['ci'] : [],
  }
  const answer = queueThat(operation =>
    operation === 'getQueue' ? { body: JSON.stringify(before) } : undefined,
  )
  expect((await update(flags, { answer })).err).toBe(`To undo this, run: mergeq queue update ${undo}\n`)
  expect((await update(flags, { answer, terminal: false })).err).toBe('')
})

test('where nothing changed, or nothing is known, nothing can be undone', async () => {
  expect((await update('--concurrency 1 --merge-method squash')).err).toBe('')
})

test('a dry run on a terminal shows old and new values, and sends no change', async () => {
  const { code, err, requests } = await update('--concurrency 5 --dry-run')
  expect({ code, err, names: namesOf(requests) }).toEqual({
    code: 0,
    err: 'main of acme/web: concurrency 1 -> 5\n',
    names: ['getQueue'],
  })
  expect((await update('--concurrency 5 --dry-run', { terminal: false })).requests).toEqual([])
  expect(await update('--concurrency 5 --dry-run', { answer: () => ({ status: 401 }) })).toMatchObject({
    code: 0,
    err: '',
  })
})
