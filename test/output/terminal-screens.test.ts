import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pullRequestStates, queueStates } from '../../src/domain/states.ts'
import { forTerminal } from '../../src/output/sanitize.ts'
import {
  hasUnicode,
  linkSpan,
  plainText,
  renderLine,
  stateSpan,
  styled,
  toAscii,
} from '../../src/output/styled-text.ts'
import { textWidth } from '../../src/output/text-width.ts'
import { columns, type Screen } from '../../src/output/view.ts'
import {
  describeSince,
  formatAge,
  formatDuration,
  formatInteger,
  formatRate,
} from '../../src/values/format.ts'
import { mergeq, noon } from '../support/harness.ts'
import { drawTable } from '../support/screens.ts'

const plain = { color: false, now: noon }
const linesOf = (view: Screen, columns: number, options = {}) =>
  drawTable(view, { ...plain, columns, ...options })
    .split('\n')
    .slice(0, -1)

const view: Screen = {
  columns: columns(
    'pr',
    'state',
    ['since', { title: 'FOR', format: 'age', priority: 1 }],
    ['prAuthor', { priority: 3 }],
    ['actor', { priority: 2 }],
    'prTitle',
  ),
  rows: [
    {
      pr: 5,
      state: 'TESTING',
      since: '2026-01-05T11:56:00Z',
      prAuthor: 'barbara',
      prTitle: 'Cache the suggestions of the search box',
    },
    {
      pr: 6,
      state: 'PENDING_FAILURE',
      since: '2026-01-05T09:00:00Z',
      prAuthor: null,
      actor: '',
      prTitle: 'Speed up the order export',
    },
  ],
}

describe('the columns of a table', () => {
  test('with a priority and without values are omitted; the others are shown if there is room', () => {
    expect(linesOf(view, 120)).toEqual([
      'PR  STATE              FOR  AUTHOR   TITLE',
      '#5  ◐ testing          4m   barbara  Cache the suggestions of the search box',
      '#6  ! pending failure  3h   -        Speed up the order export',
    ])
  })

  test('with the highest number go first, and are named; the text is cut at its end', () => {
    expect(linesOf(view, 58)).toEqual([
      'PR  STATE              FOR  TITLE',
      '#5  ◐ testing          4m   Cache the suggestions of the …',
      '#6  ! pending failure  3h   Speed up the order export',
      'Left out: AUTHOR',
    ])
    expect(linesOf(view, 50)).toEqual([
      'PR  STATE              TITLE',
      '#5  ◐ testing          Cache the suggestions of t…',
      '#6  ! pending failure  Speed up the order export',
      'Left out: FOR, AUTHOR',
    ])
  })

  test('that must not be cut are complete on a narrow terminal', () => {
    expect(linesOf(view, 20)[2]).toBe('#6  ! pending failure  Speed…')
  })

  test('of any records fit the width or contain only values that must not be cut', () => {
    const cell = fc.string({ maxLength: 60 })
    fc.assert(
      fc.property(
        fc.array(fc.record({ name: cell, prTitle: cell }), { minLength: 1 }),
        fc.integer({ min: 40, max: 200 }),
        (rows, width) => {
          const drawn = linesOf({ columns: columns('name', 'prTitle'), rows }, width)
          expect(drawn.every(line => textWidth(line) <= width)).toBe(true)
        },
      ),
    )
  })

  test('are as wide as a URL that wraps beside other words', () => {
    const url = 'https://merge-queue.internal.example.com/v1'
    const prose: Screen = {
      columns: columns(['key', { format: 'id' }], ['value', { format: 'prose' }]),
      rows: [{ key: 'base-url', value: url }],
    }
    expect(linesOf(prose, 40)).toEqual(['KEY       VALUE', `base-url  ${url}`])
    expect(linesOf({ ...prose, rows: [{ key: 'base-url', value: url.slice(8) }] }, 40)[2]).toBe(
      '          om/v1',
    )
  })
})

test.each([...pullRequestStates, ...queueStates])('the state %s has a sign and its word', state => {
  const { text, style } = stateSpan(state)
  expect(text).toMatch(new RegExp(`^[✓✗◐◕●►○!-] ${state.replaceAll('_', '[ _]')}$`, 'i'))
  expect(style).toBeDefined()
  expect(stateSpan(state.toLowerCase())).toEqual({ text, style })
})

test('an unknown state has neither sign nor color', () => {
  expect(stateSpan('something_new')).toEqual({ text: 'something_new' })
})

describe('a line', () => {
  const line = [
    '  ',
    stateSpan('MERGED'),
    ' #7',
    styled(' dim\u001B[31m', 'dim'),
    linkSpan('page', 'https://a.example/x'),
  ]

  test('has styles and links only if the terminal supports them', () => {
    expect(renderLine(line, { color: false })).toBe('  ✓ merged #7 dimpage')
    expect(renderLine(line, { color: true, links: true })).toBe(
      '  \u001B[32m✓ merged\u001B[39m #7\u001B[2m dim\u001B[22m\u001B]8;;https://a.example/x\u0007page\u001B]8;;\u0007',
    )
    expect(plainText(line)).toContain('✓ merged #7')
  })

  test.each(['javascript:alert(1)', 'https://a.example/\u0007x', 'https://a.example/ x', undefined])(
    'links to no URL like %j',
    url => {
      expect(renderLine([linkSpan('page', url)], { color: true, links: true })).toBe('page')
    },
  )

  test('with a link passes the filter of the terminal; another sequence with its form does not', () => {
    const text = renderLine([linkSpan('page', 'https://a.example/x')], { color: false, links: true })
    expect(forTerminal(text)).toBe(text)
    expect(textWidth(text)).toBe(4)
    expect(forTerminal('\u001B]8;;file:///etc/passwd\u0007x')).toBe('x')
    expect(forTerminal('\u001B]0;title\u0007x\u0007')).toBe('x')
  })
})

test.each([
  [0, '0s', '0s'],
  [20_999, '20s', '20s'],
  [412_000, '6m', '6m52s'],
  [11_040_000, '3h04m', '3h04m'],
  [50_700_000, '14h', '14h05m'],
  [86_400_000, '1 day', '1 day'],
  [9.5 * 86_400_000, '9 days', '9 days'],
])('%i ms are the age %s and the duration %s', (milliseconds, age, duration) => {
  expect([formatAge(milliseconds), formatDuration(milliseconds)]).toEqual([age, duration])
})

test.each([
  ['2026-01-05T13:57:00+02:00', ' 3m ago'],
  // The service gives its time in whole seconds.
  ['2026-01-05T12:00:00.900Z', ' just now'],
  ['2026-01-05T11:57:00', ' since 2026-01-05T11:57:00'],
])('the time since %s is%s', (date, text) => {
  expect(describeSince(date, noon, true)).toBe(text)
})

test.each([
  [0, '0%'],
  [0.001, '<1%'],
  [0.294, '29%'],
  [1, '100%'],
])('the share %d is %s', (share, text) => {
  expect(formatRate(share)).toBe(text)
})

describe('a locale that is not UTF-8', () => {
  test.each([
    [{ LANG: 'en_US.UTF-8' }, 'linux', true],
    [{ LC_ALL: 'C', LANG: 'en_US.UTF-8' }, 'linux', false],
    [{ LC_CTYPE: 'de_DE.utf8' }, 'darwin', true],
    [{}, 'linux', false],
    [{}, 'win32', true],
  ])('%j on %s', (env, platform, expected) => {
    expect(hasUnicode(env, platform)).toBe(expected)
  })

  test('gets ASCII signs of the same width, in tables and in errors, and unchanged JSON', async () => {
    const body = { prNumber: 7, state: 'MERGED', prTitle: 'Ünïcode… ✓' }
    const setting = {
      answer: () => ({ body: JSON.stringify(body) }),
      terminal: true,
      env: { LANG: 'C', NO_COLOR: '1' },
    }
    const { out } = await mergeq('pr get 7 -R acme/web -b main', setting)
    expect(out).toContain('+ merged')
    expect(out).toContain('Ünïcode~ +')
    const { out: json } = await mergeq('pr get 7 -R acme/web -b main --json', setting)
    expect(json).toContain('Ünïcode… ✓')
    expect(toAscii('▁▂▃▄▅▆▇█ ⠋')).toMatch(/^[ -~]{10}$/)
  })
})

test('an error has a red prefix, and what was meant and commands are bold in its dimmed hint', async () => {
  const { err } = await mergeq('pr get x -R acme/web -b main', { terminal: true, columns: 200 })
  expect(err).toMatch(
    /^\u001B\[31mmergeq:\u001B\[39m 'x' is not a pull request\.\n {2}\u001B\[1mDid you mean: .*\u001B\[22m\n$/,
  )
  const { err: advice } = await mergeq('pr wait -R acme/web -b main --nothing', {
    terminal: true,
    columns: 200,
  })
  expect(advice).toMatch(/\n {2}\u001B\[2m.*: \u001B\[22m\u001B\[1mmergeq .*\u001B\[22m\n$/)
  const { err: plainError } = await mergeq('pr get x -R acme/web -b main', {
    terminal: true,
    env: { NO_COLOR: '1' },
  })
  expect(plainError).not.toContain('\u001B')
})

test('the commas of a number are before its decimal point', () => {
  expect([1234567, -1234567, 999, 1234.5678, 0.3333, 1e21].map(formatInteger)).toEqual([
    '1,234,567',
    '-1,234,567',
    '999',
    '1,234.5678',
    '0.3333',
    '1e+21',
  ])
})
