import { describe, expect, test } from 'vitest'
import { parseOverride } from '../../src/api/added-fields.ts'
import { isMergeqError } from '../../src/base/errors.ts'
import { parseBaseUrl } from '../../src/config/setting-definitions.ts'
import { parseToken } from '../../src/config/token.ts'
import {
  normalizeState,
  outcomeOfRecord,
  pullRequestStates,
  queueStates,
  withNormalizedState,
} from '../../src/domain/states.ts'
import {
  isPullRequestReference,
  maxPullRequestNumber,
  parsePullRequest,
} from '../../src/values/pull-request.ts'
import { parseRepository } from '../../src/values/repository.ts'
import { choiceParser, textParser } from '../../src/values/text.ts'
import { parseDuration, parseInterval, parseMoment, parseTimeLimit } from '../../src/values/time.ts'
import {
  boolean,
  choice,
  decimal,
  integer,
  integerParser,
  listOf,
  moment,
  onlyTrue,
  parseDecimal,
  priority,
  pullRequest,
  repository as repositoryType,
  type Type,
  testId,
  text,
  upperCaseChoice,
} from '../../src/values/types.ts'
import { isRead, parseSamples } from '../support/prometheus-text.ts'

/** The message and hint of a usage error; an empty text where there is none. */
function refusal(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (isMergeqError(error) && error.kind === 'usage') return `${error.message}\n${error.details.hint ?? ''}`
    throw error
  }
  return ''
}

const isRefused = (read: () => unknown): boolean => refusal(read) !== ''

const words = (text: string): readonly string[] => text.split(' ')

/** Spellings of a number that are not the one of a whole number. */
const otherSpellings = [...words('007 7.0 7e0 0x7 -7 +7 ７ 7abc 1_0 1,000 9007199254740993'), '', ' 7', '7\n']

/** What a parser reads, with the values, and what it refuses. */
interface Reader {
  parse(text: string): unknown
  readonly reads: Readonly<Record<string, unknown>>
  readonly refuses: readonly string[]
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'
const repository = (host: string, owner: string, name = 'web') => ({ host, owner, name })

const readers: Readonly<Record<string, Reader>> = {
  'a repository': {
    parse: parseRepository,
    reads: {
      'acme/web': repository('github.com', 'acme'),
      'git.example.com:8443/acme/web': repository('git.example.com:8443', 'acme'),
      'localhost:3000/acme/web': repository('localhost:3000', 'acme'),
      'gitlab.com/acme/platform/team/web': repository('gitlab.com', 'acme/platform/team'),
      'a-c_m~e/w-e_b.js': repository('github.com', 'a-c_m~e', 'w-e_b.js'),
      'https://github.com/acme/web': repository('github.com', 'acme'),
      'https://git.example.com:8443/acme/a/web.git': repository('git.example.com:8443', 'acme/a'),
      'https://localhost/acme/web/': repository('localhost', 'acme'),
      'WWW.GitHub.com/acme/web': repository('github.com', 'acme'),
      'github.com./acme/web': repository('github.com', 'acme'),
      'www.github.com:443/acme/web.git': repository('github.com', 'acme'),
      'git.www.com/acme/web': repository('git.www.com', 'acme'),
      'münchen.example/acme/web': repository('xn--mnchen-3ya.example', 'acme'),
      'acme/web.git': repository('github.com', 'acme'),
      'http://github.com/acme/web': repository('github.com', 'acme'),
      'https://ann@github.com/acme/web': repository('github.com', 'acme'),
      'ssh://git@github.com/acme/web.git': repository('github.com', 'acme'),
      'git@github.com:acme/web.git': repository('github.com', 'acme'),
    },
    refuses: [
      ...words(
        'o / /n o/ o//n o/../n o/.. ./n github.com//n acme/web/ a@b/c acme\\web acme/web?x=1 acme/web#1',
      ),
      ...words('git.example.com/web localhost/web a:1/web'),
      ...words('https://github.com/web https://github.com/acme/web?x=1 https://nohost/acme/web acme/.git'),
      ...words('https://github.com/acme/web/pull/7 github.com/acme/web/pull/7 git@work:acme/web.git'),
      '',
      'acme/we b',
      'acme/web\n',
    ],
  },
  'a pull request': {
    parse: parsePullRequest,
    reads: {
      '1': { number: 1 },
      '#7': { number: 7 },
      '4294967295': { number: maxPullRequestNumber },
      'https://github.com/acme/web/pull/123': { number: 123, repo: 'github.com/acme/web' },
      'https://git.example.com/acme/web/pull/1': { number: 1, repo: 'git.example.com/acme/web' },
      'https://www.GitHub.com./acme/web/pull/7': { number: 7, repo: 'github.com/acme/web' },
      'github.com/acme/web/pull/7': { number: 7, repo: 'github.com/acme/web' },
      'acme/web#7': { number: 7, repo: 'github.com/acme/web' },
      'git.example.com/a/b/web#7': { number: 7, repo: 'git.example.com/a/b/web' },
      ...Object.fromEntries(
        [...'.,;:!)]}>\'"', ').', '/files,'].map(end => [
          `https://github.com/acme/web/pull/7${end}`,
          { number: 7, repo: 'github.com/acme/web' },
        ]),
      ),
      ...Object.fromEntries(
        words('/ /files /files/1a2b..3c4d /commits/1a2b /checks?run=1 ?diff=split #issuecomment-1').map(
          suffix => [
            `https://github.com/acme/web/pull/7${suffix}`,
            { number: 7, repo: 'github.com/acme/web' },
          ],
        ),
      ),
    },
    refuses: [
      ...otherSpellings,
      ...words(
        '0 #0 #007 ##7 4294967296 # - main acme/web/pull/7 acme/web#0 acme/web#7. 7. web#7 acme/..#7 https://github.com/acme/web',
      ),
      ...words('https://github.com/acme/web/pull/0 https://github.com/acme/web/pull/007'),
      ...words('https://github.com/acme/web/pull/4294967296 https://github.com/acme/web/pull/'),
      ...words(
        'https://github.com/acme/web/issues/7 https://github.com/pull/7 https://nohost/acme/web/pull/7',
      ),
      ...words('https://user@github.com/acme/web/pull/7 https://user:secret@github.com/acme/web/pull/7'),
      ...words('ftp://github.com/acme/web/pull/7 https://github.com/acme/web/pull/7/8'),
      '# 7',
    ],
  },
  'a duration': {
    parse: parseDuration,
    reads: {
      '0': 0,
      '1h30m': 90 * minute,
      '1w2d3h4m5s6ms': 9 * day + 3 * hour + 4 * minute + 5_006,
      '10000w': 70_000 * day,
    },
    refuses: [
      ...words('5 00 1.5h -5s +5s s ms 1h30 1H 1y 1e3s １s 5sec abc 10001w 99999999999999999999w'),
      '',
      '5 s',
      ' 5s',
      '5s ',
      '1h 30m',
      `${'9'.repeat(400)}w`,
    ],
  },
  'an interval': {
    parse: parseInterval,
    reads: { '1s': 1_000, '1d': day },
    refuses: words('999ms 1 1d1ms'),
  },
  // A timer with a longer delay ends at once.
  'a time limit': {
    parse: parseTimeLimit,
    reads: { '1m': minute, '25d': 2 ** 31 - 1 },
    refuses: ['1'],
  },
  'an instant': {
    parse: text => parseMoment(text, day),
    reads: {
      '6h': 18 * hour,
      '2026-01-05T09:30:00Z': Date.UTC(2026, 0, 5, 9, 30),
      '2026-01-05T09:30:00.250Z': Date.UTC(2026, 0, 5, 9, 30, 0, 250),
      '2026-01-05T09:30:00+02:00': Date.UTC(2026, 0, 5, 7, 30),
      '2026-01-05T23:30:00-05:30': Date.UTC(2026, 0, 6, 5),
      '2024-02-29': Date.UTC(2024, 1, 29),
      '1969-12-31': -day,
    },
    // RFC 3339 section 5.6: an hour is 00 to 23.
    refuses: [
      ...words('2026-01-05T09:30:00 2026-01-05T09:30 2026-02-29 2026-02-30T00:00:00Z 2026-13-01 2026-00-10'),
      ...words('2026-1-5 26-01-05 2026-01-05T25:00:00Z 2026-01-05T24:00:00Z 2026-01-05T09:60:00Z 20260105'),
      ...words('2026-01-05T09:30:00+25:00 2026-01-05Z 1767605400 lately ２026-01-05'),
      '',
      '2026-01-05 09:30',
      ' 2026-01-05',
      '2026-01-05T09:30:00Z ',
    ],
  },
  'a whole number from 1 to 100': {
    parse: integerParser(1, 100),
    reads: { '1': 1, '100': 100 },
    refuses: [...otherSpellings, '0', '101'],
  },
  'a decimal number': {
    parse: parseDecimal,
    reads: { '0': 0, '12.25': 12.25, '-0.5': -0.5 },
    refuses: [...words('. abc NaN Infinity 0x1 1,5 １ 1.2.3'), '', '1 '],
  },
  'a priority': {
    parse: priority.parse,
    reads: { urgent: 'urgent', high: 'high', medium: 'medium', low: 'low', '0': 0, '255': 255 },
    refuses: [...otherSpellings, ...words('256 default highest'), ' high'],
  },
  'the ID of a test': {
    parse: testId.parse,
    reads: { [id]: id, [id.toUpperCase()]: id.toUpperCase() },
    refuses: [
      '',
      `{${id}}`,
      id.slice(1),
      `${id}0`,
      id.replaceAll('-', ''),
      '../x',
      `${id}\n`,
      `g${id.slice(1)}`,
    ],
  },
  'a text': {
    parse: textParser('branch'),
    reads: { 'a b': 'a b' },
    refuses: ['', ' a ', ' '],
  },
  'a choice, in any case': {
    parse: choiceParser(['single', 'DRAINING']),
    reads: { single: 'single', Draining: 'DRAINING' },
    refuses: ['', 'both', 'drainings'],
  },
  'a base address': {
    parse: parseBaseUrl,
    reads: {
      'https://h/v1': 'https://h/v1',
      'https://h/v1//': 'https://h/v1',
      'HTTPS://H:443/v1': 'https://h/v1',
      'https://h:8443/a/b': 'https://h:8443/a/b',
      'http://localhost:8080/v1': 'http://localhost:8080/v1',
      'http://127.255.255.254/v1': 'http://127.255.255.254/v1',
      'http://[::1]:8080/v1': 'http://[::1]:8080/v1',
      'http://127.1/v1': 'http://127.0.0.1/v1',
      'https://[2001:db8::1]:8443/v1': 'https://[2001:db8::1]:8443/v1',
      'https://münchen.test/v1': 'https://xn--mnchen-3ya.test/v1',
    },
    refuses: [
      ...words(
        'api.trunk.io/v1 /v1 //h/v1 ftp://h/v1 file:///etc/passwd javascript:alert(1) https:// http://h/v1',
      ),
      ...words(
        'http://localhost.evil.test/v1 http://127.0.0.1.evil.test/v1 http://128.0.0.1/v1 http://0.0.0.0/v1 http://[::]/v1 http://[::2]/v1',
      ),
      ...words(
        'http://[::ffff:10.0.0.1]/v1 https://user@h/v1 https://user:secret@h/v1 https://a.b@evil.test',
      ),
      ...words('https://h/v1?a=b https://h/v1? https://h/v1#a https://h/v1#'),
      '',
    ],
  },
}

describe.each(Object.entries(readers))('%s', (_, { parse, reads, refuses }) => {
  test.each(Object.entries(reads))('%j is read', (text, value) => {
    expect(parse(text)).toEqual(value)
  })

  test.each(refuses)('%j is refused', text => {
    expect(isRefused(() => parse(text))).toBe(true)
  })
})

/** Values that no type takes. */
const never = [null, [7], { 0: 'ci' }, Number.NaN, () => 1]

/** What a program or a file gives: what each type makes of it, and what it refuses. */
const checks: Readonly<Record<string, readonly [Type<unknown>, [unknown, unknown][], unknown[]]>> = {
  'whole numbers': [
    integer(1, 100),
    [[100, 100]],
    ['5', '', 0, 101, 0.5, -1, Number.POSITIVE_INFINITY, true, {}],
  ],
  'decimal numbers': [decimal('rate'), [[1e-7, 1e-7]], ['0.5', Number.POSITIVE_INFINITY, true]],
  booleans: [boolean, [[false, false]], ['true', 'yes', 1, 0]],
  'true or nothing': [
    onlyTrue,
    [
      [true, true],
      [false, undefined],
    ],
    ['true', 1],
  ],
  texts: [text('name'), [['a b', 'a b']], ['', 7, true, ['x'], {}]],
  choices: [choice(['single', 'parallel'], 'mode'), [['Single', 'single']], ['', 'other', 7, true]],
  'choices that are sent in upper case': [
    upperCaseChoice(['not-ready'], 'state'),
    [['not-ready', 'NOT-READY']],
    ['', 'ready', true],
  ],
  'lists of texts': [listOf(text('name')), [[['ci'], ['ci']]], ['ci', 7, [''], [null]]],
  priorities: [priority, [[10, 10]], ['first', 256, -1, 1.5, true, ['high']]],
  'pull requests': [pullRequest, [[7, '7']], ['seven', '', -1, 1.5, true, { number: 7 }]],
  repositories: [
    repositoryType,
    [
      ['acme/web', repository('github.com', 'acme')],
      [repository('git.example.com', 'acme/a'), repository('git.example.com', 'acme/a')],
    ],
    ['web', 7, ['acme/web'], { owner: 'acme', name: 'web' }, repository('x', 'a')],
  ],
  'test IDs': [testId, [[id, id]], ['x', 7, true]],
  moments: [
    moment,
    [
      ['2h', '2h'],
      [new Date(0), '1970-01-01T00:00:00.000Z'],
    ],
    ['', 'lately', 7, new Date(Number.NaN), true, {}],
  ],
}

describe.each(Object.entries(checks))('of what a program gives as %s', (_, [type, reads, refuses]) => {
  test.each(reads)('%j is read', (value, expected) => {
    expect(type.check(value)).toEqual(expected)
  })

  test('anything else is refused', () => {
    for (const value of [...never, ...refuses])
      expect({ value, isRefused: isRefused(() => type.check(value)) }).toEqual({ value, isRefused: true })
  })
})

test('a word is the reference of a pull request if it can be read as one', () => {
  const { reads = {}, refuses = [] } = readers['a pull request'] ?? {}
  for (const word of Object.keys(reads))
    expect({ word, is: isPullRequestReference(word) }).toEqual({ word, is: true })
  for (const word of refuses)
    if (!word.includes('://')) expect({ word, is: isPullRequestReference(word) }).toEqual({ word, is: false })
})

describe('a token', () => {
  const longest = 'a'.repeat(4096)

  test.each([
    ['tok_x\n', 'tok_x'],
    ['\r\n\t tok_x \v\f', 'tok_x'],
    ['\uFEFFtok_x', 'tok_x'],
    [' \uFEFF\n tok_x\r\n', 'tok_x'],
    ['!~', '!~'],
    [longest, longest],
  ])('is trimmed of ASCII white space, and of a mark before it: %j', (typed, value) => {
    expect(parseToken(typed, 'MERGEQ_TOKEN').value).toBe(value)
  })

  test.each([
    ['a BOM inside', '\uFEFFtok\uFEFFsecret', 'U+FEFF at position 5'],
    ['a space', 'tok secret', 'a space at position 4'],
    ['a non-breaking space', 'tok\u00A0secret', 'U+00A0 at position 4'],
    ['a line break', '  tok\nsecret', 'U+000A at position 6'],
    ['a NUL', 'tok\u0000secret', 'U+0000 at position 4'],
    ['a DEL', 'tok\u007Fsecret', 'U+007F at position 4'],
    ['an emoji', 'tok😀secret', 'U+1F600 at position 4'],
    ['too many characters', `secret${longest}`, 'longer than 4096 characters'],
  ])('with %s is refused, and not repeated', (_, typed, says) => {
    const said = refusal(() => parseToken(typed, 'MERGEQ_TOKEN'))
    expect(said).toMatch(/^Invalid token \(MERGEQ_TOKEN\): /)
    expect(said).toContain(says)
    expect(said).not.toMatch(/tok_|secret|ByteString/)
  })
})

describe('states', () => {
  test('are those of the API document', () => {
    expect([...pullRequestStates].sort()).toEqual(
      words('CANCELLED FAILED MERGED NOT_READY PENDING PENDING_FAILURE TESTING TESTS_PASSED'),
    )
    expect([...queueStates].sort()).toEqual(words('DRAINING PAUSED RUNNING SWITCHING_MODES'))
  })

  test.each([...pullRequestStates, ...queueStates])('%s is spelled so in any case', state => {
    for (const word of [state, state.toLowerCase(), `${state[0]}${state.slice(1).toLowerCase()}`])
      expect(normalizeState(word)).toBe(state)
  })

  test.each(['', 'Warming_Up', 'MERGED ', '__proto__'])('%j, which is unknown, stays as it is', word => {
    expect(normalizeState(word)).toBe(word)
  })

  test('a record keeps everything but the case of its own state', () => {
    const others = { other: 'merged', deep: { state: 'merged' } }
    expect(withNormalizedState({ state: 'merged', ...others })).toEqual({ state: 'MERGED', ...others })
    for (const record of [{ state: 7 }, {}]) expect(withNormalizedState(record)).toEqual(record)
  })

  test.each([
    [{ state: 'merged' }, 'ok'],
    [{ state: 'MERGED', isCurrentlySubmittedToQueue: true }, 'ok'],
    [{ state: 'failed' }, 'failed'],
    [{ state: 'FAILED', isCurrentlySubmittedToQueue: true }, 'pending'],
    [{ state: 'CANCELLED' }, 'cancelled'],
    [{ state: 'cancelled', isCurrentlySubmittedToQueue: true }, 'pending'],
    ...words('not_ready pending testing tests_passed pending_failure warming_up').map(
      state => [{ state, isCurrentlySubmittedToQueue: false }, 'pending'] as const,
    ),
    [{ state: null }, 'pending'],
  ] as const)('the outcome of %j is %s', (record, expected) => {
    expect(outcomeOfRecord(record)).toBe(expected)
  })
})

// That whole texts are read back, whatever is in them, is in test/domain/metrics/exposition.test.ts. The verdicts are those of the
// parser of Prometheus, but for blanks at the end of a line, types that it does not know and comments about no metric.
describe('the text format of metrics', () => {
  test.each([
    ...['up', 'up{a="b"}', 'up one', 'up 1 2 3', 'up 1 now', 'up 1_000', 'up 1,5', 'up --1', '1up 1'],
    ...['up-time 1', '{a="b"} 1', 'up{a="b" 1', 'up{a="b} 1', 'up{a=b} 1', "up{a='b'} 1", 'up{,} 1'],
    ...['up{a="b" c="d"} 1', 'up{1a="b"} 1', 'up{a="b"} {c="d"} 1', '<html><body>', '{"error":"no"}'],
    ...['up{a="b",,} 1', 'up{a="b",a="c"} 1', 'up{__name__="a"} 1', 'up{a:b="c"} 1', 'up{a="\\t"} 1'],
    ...['up .', 'up 1e400', 'up 0x10', 'up +NaN', 'up infinite', 'up 1 2.5', 'é 1'],
  ])('%j is not of the format', line => {
    expect(() => parseSamples(`up 1\n${line}\n`)).toThrow(
      expect.objectContaining({ kind: 'bad-answer', message: expect.stringContaining('line 2') }),
    )
  })

  test.each([
    ...['up{} 1', 'up{a="b",} 1', 'up{a="b"}1', 'up { a = "b" , c = "" } 1 2', ' \tup\t1 ', 'a:b 1', '#up 1'],
    ...['up +5', 'up .5e-3', 'up 5.', 'up 1e-400', 'up -inf', 'up Infinity', 'up nan', 'up 1 -2', 'up 1 +2'],
    ...['# TYPE up gauge', '# TYPE up thing', '# HELP 1a x'],
  ])('%j is of the format', line => {
    expect(isRead(`${line}\n`)).toBe(true)
  })

  test('keys of objects are labels like any other', () => {
    const labels = parseSamples('up{__proto__="x",constructor="y"} 1')[0]?.labels ?? {}
    expect(Object.entries(labels)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ])
  })
})

// What may stand beside what is in test/cli/usage-errors.test.ts.
describe('--set', () => {
  test.each([
    ['a.b.c=true', ['a', 'b', 'c'], true],
    ['a=null', ['a'], null],
    ['a="5"', ['a'], '5'],
    ['a={"b"', ['a'], '{"b"'],
    ['a=', ['a'], ''],
    ['a= ', ['a'], ' '],
    ['a=b=c', ['a'], 'b=c'],
    ['__proto__.x=1', ['__proto__', 'x'], 1],
  ])('%s is a path and a value', (word, path, value) => {
    expect(parseOverride(word)).toEqual({ path, value })
  })

  test.each(['', '=1', 'a', '.=1', 'a..b=1', '.a=1', 'a.=1'])('%j is refused', word => {
    expect(isRefused(() => parseOverride(word))).toBe(true)
  })
})
