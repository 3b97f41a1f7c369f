import { expect, test } from 'vitest'
import { createQueue } from '../../../src/api/operations/queues.ts'
import { flagName } from '../../../src/command/inputs.ts'
import { defaultSettings } from '../../../src/sandbox/engine/settings.ts'
import { mergeq, openStory } from '../../support/harness.ts'
import { bodiesOf, where } from '../../support/queue-files.ts'

test('`queue create` creates the queue with one request, and says so on a terminal', async () => {
  const setting = { answer: () => ({ body: 'OK' }), terminal: true }
  const { code, out, err, requests } = await mergeq(`queue create ${where} --mode parallel`, setting)
  expect({ code, out, err }).toEqual({ code: 0, out: 'Created the queue for main of acme/web.\n', err: '' })
  const repo = { host: 'github.com', owner: 'acme', name: 'web' }
  expect(requests).toHaveLength(1)
  expect(bodiesOf(requests, 'createQueue')).toEqual([{ repo, targetBranch: 'main', mode: 'parallel' }])
})

const { repo: _repo, targetBranch: _branch, ...settings } = createQueue.params

/** A setting, an option that gives it another value than the default, and that value. */
const rows = Object.entries(settings).map(([name, { type }]) => {
  const usual = JSON.stringify({ ...defaultSettings }[name])
  const values = type.form === 'flag' ? [true, false] : [...(type.choices ?? []), 3, 'text', ['text']]
  const value = values.find(value => {
    try {
      return JSON.stringify(type.check(value)) !== usual
    } catch {
      return false
    }
  })
  return { name, value, typed: `${flagName(name, value)} ${type.form === 'flag' ? '' : value}` }
})

test.each(rows)('`queue create $typed` is what the queue has, and its file has and makes', async each => {
  const { name, value, typed } = each
  const story = await openStory()
  const disk = new Map([['one.json', JSON.stringify({ settings: { [name]: value } })]])
  const other = await story.mergeq('queue diff -f one.json', { disk })
  expect(other).toMatchObject({ code: 20, out: expect.stringContaining(name) })
  for (const line of [
    `queue create -b next ${typed}`,
    'queue export -b next -f next.json',
    'queue apply -b other -f one.json --create --yes',
  ])
    expect(await story.mergeq(line, { disk })).toMatchObject({ code: 0 })
  expect(JSON.parse(disk.get('next.json') ?? '').settings).toMatchObject({ [name]: value })
  for (const branch of ['next', 'other'])
    expect(JSON.parse((await story.mergeq(`queue get -b ${branch} --json`)).out)).toMatchObject({
      [name]: value,
    })
  expect(story.received.filter(({ path }) => path.endsWith('/updateQueue'))).toEqual([])
})
