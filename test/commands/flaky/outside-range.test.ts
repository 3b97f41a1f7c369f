import { describe, expect, test } from 'vitest'
import { getString, type JsonObject } from '../../../src/base/json.ts'
import { idOf } from '../../support/flaky-list.ts'
import { junit } from '../../support/flaky-match.ts'
import type { Setting } from '../../support/harness.ts'
import { type Answers, json, namesOf, run } from '../../support/named-answers.ts'

const org = '-R acme/web --org acme'

const tests = (...all: readonly JsonObject[]) => json({ tests: all, page: { next_page_token: '' } })
const testOf = (number: number, more: JsonObject = {}): JsonObject => ({
  id: idOf(number),
  name: `test ${number}`,
  classname: 'Cart',
  parent: 'Cart',
  quarantined: false,
  ...more,
})
/** A list of flaky tests, and none that is broken. */
const flaky =
  (...all: readonly JsonObject[]) =>
  ({ status }: JsonObject) =>
    status === 'FLAKY' ? tests(...all) : tests()

describe('flaky match', () => {
  const xml = junit(['Cart', 'test 1'], ['Cart', 'test 2'], ['Cart', 'test 3'])
  const match = (flags: string, answers: Answers) =>
    run(`flaky match junit.xml --allow known --retries 0 ${org} ${flags}`, answers, {
      files: { 'junit.xml': xml },
    })
  const answers: Answers = {
    'list-failing-tests': tests(testOf(1)),
    'list-unhealthy-tests': flaky(testOf(1, { name: 'other' }), testOf(2), testOf(3, { quarantined: true })),
  }

  test('a test that is flaky or broken is known, although it did not fail in the range', async () => {
    const { code, out, err } = await match('--json', answers)
    expect(code).toBe(0)
    const { counts, tests: matches } = JSON.parse(out)
    expect(counts).toEqual({ failed: 3, new: 0, unknown: 0, known: 2, quarantined: 1, flaky: 0 })
    const found = matches.map(({ name, verdict, inWindow }: JsonObject) => ({ name, verdict, inWindow }))
    expect(found).toEqual([
      { name: 'test 1', verdict: 'known' },
      { name: 'test 2', verdict: 'known', inWindow: false },
      { name: 'test 3', verdict: 'quarantined', inWindow: false },
    ])
    expect(err).toContain(
      '2 failed tests are known to be flaky or broken, but had not failed in this range before.\n',
    )
    const { out: picked } = await match('-o ndjson --fields name,inWindow', answers)
    expect(picked).toContain('{"name":"test 2","inWindow":false}\n')
  })

  test('--window-only reads only what failed in the range', async () => {
    const outcome = await match('--window-only', answers)
    expect({ code: outcome.code, sent: namesOf(outcome) }).toEqual({ code: 21, sent: ['list-failing-tests'] })
    expect(outcome.out).toMatch(/^test 2\tnew\t/)
  })

  test('nothing more is read where every failure is known already', async () => {
    const outcome = await match('', { 'list-failing-tests': tests(testOf(1), testOf(2), testOf(3)) })
    expect({ code: outcome.code, sent: namesOf(outcome) }).toEqual({ code: 0, sent: ['list-failing-tests'] })
  })

  test('if the service lists none of them, the result stays the same after one request', async () => {
    const outcome = await match('', { 'list-failing-tests': tests(testOf(1)) })
    const { code, out, err } = await match('--window-only', { 'list-failing-tests': tests(testOf(1)) })
    expect(outcome).toMatchObject({ code, out, err })
    expect(namesOf(outcome)).toEqual(['list-failing-tests', 'list-unhealthy-tests'])
  })

  const breaksOff = ({ page_query: query }: JsonObject) =>
    getString(query, 'page_token') === ''
      ? json({ tests: [testOf(2)], page: { next_page_token: 'b' } })
      : { status: 404, body: 'gone' }
  test.each([
    ['fails', 500, { status: 500 }],
    ['breaks off', 'gone', breaksOff],
  ])('a list that %s is reported, and all failures stay visible', async (_, status, answer) => {
    const { code, err } = await match('', { ...answers, 'list-unhealthy-tests': answer })
    expect(code).toBe(21)
    expect(err).toMatch(
      new RegExp(`^The list of flaky and broken tests is incomplete: .*${status}.*\\.$`, 'm'),
    )
  })

  test('a rejected token is an error', async () => {
    const { code, out } = await match('', { ...answers, 'list-unhealthy-tests': { status: 401 } })
    expect({ code, out }).toEqual({ code: 4, out: '' })
  })
})

describe('flaky gate', () => {
  const gate = (flags: string, answers: Answers, setting: Setting = {}) =>
    run(`flaky gate --max 1 --retries 0 ${org} ${flags}`, answers, setting)
  const answers: Answers = {
    'list-failing-tests': tests(testOf(1)),
    'list-unhealthy-tests': flaky(testOf(1), testOf(2), testOf(3, { codeowners: ['@a'] })),
  }

  test('reports how many other tests are flaky or broken, and does not count them', async () => {
    const { code, out, err } = await gate('--json', answers)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ ok: true, failing: 1, max: 1, notInWindow: 2 })
    expect(err).toContain(
      '2 more tests are flaky or broken, but did not fail in this range. The gate does not count them.\n',
    )
  })

  test('its filters and its baseline also apply to them', async () => {
    const owned = await gate('--owner @a -o ndjson', answers)
    expect(JSON.parse(owned.out)).toMatchObject({ failing: 0, notInWindow: 1 })
    const baseline = await gate('--baseline known.txt -o ndjson', answers, {
      files: { 'known.txt': `${idOf(2)}\n` },
    })
    expect(JSON.parse(baseline.out)).toMatchObject({ failing: 1, notInWindow: 1 })
  })

  test.each([
    ['--window-only', answers, ['list-failing-tests']],
    // Their records have no failure rates.
    ['--min-failure-rate 0.1', answers, ['list-failing-tests']],
    [
      '',
      { 'list-failing-tests': tests(testOf(1)) } satisfies Answers,
      ['list-failing-tests', 'list-unhealthy-tests'],
    ],
  ])('unchanged with %j, or if the service lists none of them', async (flags, given, sent) => {
    const outcome = await gate(`${flags} --json`, given)
    expect({ code: outcome.code, sent: namesOf(outcome) }).toEqual({ code: 0, sent })
    expect(JSON.parse(outcome.out)).not.toHaveProperty('notInWindow')
    expect(outcome.err).not.toContain('more test')
  })
})
