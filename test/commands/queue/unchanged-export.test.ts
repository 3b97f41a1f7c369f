import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/base/json.ts'
import { mergeq, type Setting } from '../../support/harness.ts'
import { bodiesOf, live, namesOf, queueThat, rows, where } from '../../support/queue-files.ts'
import { sampleRuns } from '../../support/sample.ts'

/** Values that the service may say, also those that its own schemas refuse. */
const someLive: fc.Arbitrary<JsonObject> = fc.record(
  {
    bisectionConcurrency: fc.constantFrom(0, 1, 5, null),
    batchingMaxWaitTimeMinutes: fc.constantFrom(0, 5),
    batchingMinSize: fc.constantFrom(0, 4, 4_294_967_296),
    testingTimeoutMinutes: fc.constantFrom(0, 90),
    pendingFailureDepth: fc.constantFrom(0, 2),
    notReadyTimeoutHours: fc.constantFrom(0, 24, null),
    concurrency: fc.constantFrom(0, 1, 3),
    mode: fc.constantFrom('single', 'PARALLEL', 'both'),
    mergeMethod: fc.constantFrom('squash', 'fast_forward'),
    requiredStatuses: fc.constantFrom<readonly string[] | null>([], null, ['ci'], ['']),
    enqueueingLabel: fc.constantFrom('', 'go'),
    futureThing: fc.constantFrom<JsonObject[string]>(0, null, '', { '<<': 1 }, [0]),
  },
  { requiredKeys: [] },
)

const someDefaults: fc.Arbitrary<JsonObject> = fc.record(
  {
    bisectionConcurrency: fc.constant(2),
    batchingMaxWaitTimeMinutes: fc.constant(5),
    concurrency: fc.constant(3),
    mergeMethod: fc.constant('squash'),
  },
  { requiredKeys: [] },
)

test('an export that nobody has changed changes nothing, or is refused with the defaults that would', async () => {
  await fc.assert(
    fc.asyncProperty(someLive, someDefaults, fc.boolean(), async (settings, defaults, isJson) => {
      const answer = () => ({
        body: JSON.stringify({ state: 'running', enqueuedPullRequests: [], ...settings }),
      })
      // What the queue has no value for is no part of an export.
      const given = Object.entries(defaults).filter(([key]) => (settings[key] ?? null) !== null)
      const disk = new Map([['defaults.json', JSON.stringify({ settings: Object.fromEntries(given) })]])
      const file = isJson ? 'q.json' : 'q.yaml'
      const exported = await mergeq(`queue export -f ${file} ${where}`, { answer, disk })
      if (exported.code !== 0) {
        expect({ code: exported.code, files: [...disk.keys()] }).toEqual({
          code: 2,
          files: ['defaults.json'],
        })
        expect(exported.err).toMatch(/ that a file cannot have, and \S+defaults\.json would replace it\./)
        return
      }
      const { code, out, requests } = await mergeq(`queue apply -f ${file} --yes`, { answer, disk })
      expect({ code, out, sent: namesOf(requests) }).toEqual({
        code: 0,
        out: rows('main\ttrue\tunchanged\t\tThe queue for main of acme/web is up to date.'),
        sent: ['getQueue'],
      })
    }),
    { numRuns: sampleRuns(40) },
  )
})

describe('a 0 that the live queue has', () => {
  const zeros = { bisectionConcurrency: 0, batchingMaxWaitTimeMinutes: 0 }
  const run = (line: string, settings: string, more: Setting = {}) =>
    mergeq(`queue ${line} ${where}`, {
      files: { 'q.yaml': `settings: ${settings}` },
      answer: queueThat((operation, _, queue) =>
        operation === 'getQueue' ? { body: JSON.stringify({ ...queue, ...zeros }) } : undefined,
      ),
      ...more,
    })
  const applied = '{bisectionConcurrency: 0, batchingMaxWaitTimeMinutes: 0}'

  test('may be in a file, and is never sent', async () => {
    const same = await run('apply -f q.yaml --yes', applied)
    expect({ code: same.code, sent: namesOf(same.requests) }).toEqual({ code: 0, sent: ['getQueue'] })
    const changed = await run('apply -f q.yaml --yes', applied.replace('{', '{concurrency: 4, '))
    expect({ code: changed.code, sent: bodiesOf(changed.requests, 'updateQueue') }).toEqual({
      code: 0,
      sent: [expect.not.objectContaining(zeros)],
    })
    expect(bodiesOf(changed.requests, 'updateQueue')[0]).not.toHaveProperty('bisectionConcurrency')
  })

  test.each(['apply -f q.yaml --yes', 'diff -f q.yaml'])(
    '%s refuses one that it does not have',
    async line => {
      const other = { ...live, bisectionConcurrency: 2 }
      const answer = () => ({ body: JSON.stringify(other) })
      const { code, err, requests } = await run(line, '{bisectionConcurrency: 0}', { answer })
      expect({ code, sent: namesOf(requests) }).toEqual({ code: 2, sent: ['getQueue'] })
      expect(err).toContain('q.yaml: bisectionConcurrency is 0, which cannot be set for main of acme/web.')
      const missing = () => ({ status: 404, body: 'Not Found' })
      const created = await run(`${line.replace('--yes', '--yes --create')}`, '{bisectionConcurrency: 0}', {
        answer: missing,
      })
      expect({ code: created.code, sent: namesOf(created.requests) }).toEqual({ code: 2, sent: ['getQueue'] })
    },
  )

  test('stays in the file that an export updates, and takes the place of a default', async () => {
    for (const [path, text] of [
      ['q.yaml', 'settings: {bisectionConcurrency: 0}'],
      ['defaults.yaml', 'settings: {bisectionConcurrency: 2}'],
    ] as const) {
      const disk = new Map([[path, text]])
      const { err } = await run('export -f q.yaml', '', { disk, files: {} })
      expect(disk.get('q.yaml')).toContain('bisectionConcurrency: 0')
      expect(err).toContain('live values cannot be set: batchingMaxWaitTimeMinutes.')
    }
  })

  test('is no command that undoes a change', async () => {
    const { err } = await run('apply -f q.yaml --yes', '{bisectionConcurrency: 3}', { terminal: true })
    expect(err).not.toContain('To undo')
  })
})
