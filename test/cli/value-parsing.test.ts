import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { param, parseOverride } from '../../src/api/operation.ts'
import { readOverrides } from '../../src/cli/requests.ts'
import { isLoopback, parseBaseUrl } from '../../src/config/setting-definitions.ts'
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
} from '../../src/domain/values/pull-request.ts'
import { parseRepository } from '../../src/domain/values/repository.ts'
import { choiceParser, textParser } from '../../src/domain/values/text.ts'
import { parseDuration, parseMoment } from '../../src/domain/values/time.ts'
import { integer, integerParser, parseDecimal, priority, testId } from '../../src/domain/values/types.ts'
import { isMergeqError } from '../../src/errors.ts'
import { type Answer, mergeq, noon, type Outcome, type Setting } from '../support/harness.ts'
import { parseSamples } from '../support/prometheus-text.ts'

const refusal = 'refused'

/**
 * What a reader makes of a word; `refused` where it throws a usage failure, which anything else would not be.
 */
function reading<T>(read: () => T): T | typeof refusal {
  try {
    return read()
  } catch (error) {
    if (isMergeqError(error) && error.kind === 'usage') return refusal
    throw error
  }
}

/** The message and hint of a refusal. */
function complaint(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (isMergeqError(error) && error.kind === 'usage') return `${error.message}\n${error.details.hint ?? ''}`
    throw error
  }
  return ''
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

describe('a repository', () => {
  test.each([
    ['acme/web', 'github.com', 'acme', 'web'],
    ['github.com/acme/web', 'github.com', 'acme', 'web'],
    ['git.example.com/acme/web', 'git.example.com', 'acme', 'web'],
    ['git.example.com:8443/acme/web', 'git.example.com:8443', 'acme', 'web'],
    ['localhost/acme/web', 'localhost', 'acme', 'web'],
    ['localhost:3000/acme/web', 'localhost:3000', 'acme', 'web'],
    ['acme/platform/web', 'github.com', 'acme/platform', 'web'],
    ['gitlab.com/acme/platform/team/web', 'gitlab.com', 'acme/platform/team', 'web'],
    ['a-c_m.e/w-e_b.js', 'github.com', 'a-c_m.e', 'w-e_b.js'],
    ['https://github.com/acme/web', 'github.com', 'acme', 'web'],
    ['https://git.example.com:8443/acme/platform/web.git', 'git.example.com:8443', 'acme/platform', 'web'],
    ['https://localhost/acme/web/', 'localhost', 'acme', 'web'],
  ])('%s is read', (word, host, owner, name) => {
    expect(parseRepository(word)).toEqual({ host, owner, name })
  })

  test.each([
    '',
    'o',
    '/',
    '/n',
    'o/',
    'o//n',
    'o/../n',
    'o/..',
    './n',
    'github.com//n',
    'acme/web/',
    'https://github.com/web',
    'https://ann@github.com/acme/web',
    'https://github.com/acme/web?x=1',
    'http://github.com/acme/web',
    'ssh://git@github.com/acme/web',
    'git@github.com:acme/web.git',
    'acme/web?x=1',
    'acme/web#1',
    'acme/we b',
    'acme/web\n',
    'a@b/c',
    'acme\\web',
  ])('%j is refused', word => {
    expect(reading(() => parseRepository(word))).toBe(refusal)
  })
})

/** Words that name no pull request. */
const noPullRequests = [
  '007',
  '7.0',
  '7e0',
  '0x7',
  '-7',
  '+7',
  '0',
  '#0',
  '#007',
  '##7',
  '# 7',
  '７',
  ' 7 ',
  '7 ',
  '7\n',
  '7abc',
  '1_0',
  '1,000',
  '4294967296',
  '99999999999',
  '9007199254740993',
  '',
  '#',
  '-',
  'main',
]

describe('a pull request', () => {
  test.each([
    ['7', { number: 7 }],
    ['#7', { number: 7 }],
    ['1', { number: 1 }],
    ['4294967295', { number: 4_294_967_295 }],
    ['https://github.com/acme/web/pull/123', { number: 123, repo: 'github.com/acme/web' }],
    ['https://git.example.com/acme/web/pull/1', { number: 1, repo: 'git.example.com/acme/web' }],
  ])('%s is read', (word, expected) => {
    expect(parsePullRequest(word)).toEqual(expected)
    expect(isPullRequestReference(word)).toBe(true)
  })

  test.each(noPullRequests)('%j is refused', word => {
    expect(reading(() => parsePullRequest(word))).toBe(refusal)
    expect(isPullRequestReference(word)).toBe(false)
  })

  test.each([
    'https://github.com/acme/web/pull/0',
    'https://github.com/acme/web/pull/007',
    'https://github.com/acme/web/pull/4294967296',
    'https://github.com/acme/web/pull/',
    'https://github.com/acme/web/issues/7',
    'https://github.com/acme/web',
    'https://user@github.com/acme/web/pull/7',
    'https://user:secret@github.com/acme/web/pull/7',
    'https://github.com/pull/7',
    'github.com/acme/web/pull/7',
    'ftp://github.com/acme/web/pull/7',
    'https://github.com/acme/web/pull/7?x',
    'https://nohost/acme/web/pull/7',
  ])('%s is not the URL of a pull request', word => {
    expect(reading(() => parsePullRequest(word))).toBe(refusal)
  })

  test('the largest is the largest that the service holds', () => {
    expect(maxPullRequestNumber).toBe(2 ** 32 - 1)
  })

  test('any number in range is read, with and without #', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: maxPullRequestNumber }), number => {
        for (const word of [String(number), `#${number}`]) expect(parsePullRequest(word)).toEqual({ number })
      }),
    )
  })
})

describe('a duration', () => {
  test.each([
    ['0', 0],
    ['0s', 0],
    ['250ms', 250],
    ['90s', 90_000],
    ['5m', 5 * minute],
    ['1h30m', 90 * minute],
    ['1d', day],
    ['1w', 7 * day],
    ['1w2d3h4m5s6ms', 9 * day + 3 * hour + 4 * minute + 5_006],
    ['1m500ms', 60_500],
  ])('%s is %i ms', (word, expected) => {
    expect(parseDuration(word)).toBe(expected)
  })

  test.each([
    '',
    '5',
    '00',
    '1.5h',
    '-5s',
    '+5s',
    's',
    'ms',
    '5 s',
    ' 5s',
    '5s ',
    '1h 30m',
    '1h30',
    '1H',
    '1y',
    '1e3s',
    '１s',
    '5sec',
    'abc',
    '99999999999999999999w',
    `${'9'.repeat(400)}w`,
  ])('%j is refused', word => {
    expect(reading(() => parseDuration(word))).toBe(refusal)
  })
})

describe('an instant', () => {
  test.each([
    ['2026-01-05T09:30:00Z', Date.UTC(2026, 0, 5, 9, 30)],
    ['2026-01-05t09:30:00z', Date.UTC(2026, 0, 5, 9, 30)],
    ['2026-01-05T09:30:00.250Z', Date.UTC(2026, 0, 5, 9, 30, 0, 250)],
    ['2026-01-05T09:30:00+02:00', Date.UTC(2026, 0, 5, 7, 30)],
    ['2026-01-05T23:30:00-05:30', Date.UTC(2026, 0, 6, 5)],
    ['2026-01-05', Date.UTC(2026, 0, 5)],
    ['2024-02-29', Date.UTC(2024, 1, 29)],
    ['1969-12-31', -day],
  ])('%s is read', (word, expected) => {
    expect(parseMoment(word, 0)).toBe(expected)
  })

  test.each([
    '',
    '2026-01-05T09:30:00',
    '2026-01-05 09:30',
    '2026-01-05T09:30',
    '2026-02-29',
    '2026-02-30T00:00:00Z',
    '2026-13-01',
    '2026-00-10',
    '2026-1-5',
    '26-01-05',
    '2026-01-05T25:00:00Z',
    '2026-01-05T09:60:00Z',
    '2026-01-05T09:30:00+25:00',
    '2026-01-05Z',
    '20260105',
    '1767605400',
    'yesterday',
    ' 2026-01-05',
    '2026-01-05T09:30:00Z ',
    '２026-01-05',
  ])('%j is refused', word => {
    expect(reading(() => parseMoment(word, 0))).toBe(refusal)
  })

  // RFC 3339 section 5.6: an hour is 00 to 23.
  test('2026-01-05T24:00:00Z is refused', () => {
    expect(reading(() => parseMoment('2026-01-05T24:00:00Z', 0))).toBe(refusal)
  })

  test('any moment is read back from its own spelling', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
        date => {
          expect(parseMoment(date.toISOString(), 0)).toBe(date.getTime())
        },
      ),
    )
  })
})

describe('numbers and ids', () => {
  const small = integerParser(1, 100)

  test.each([
    ['1', 1],
    ['7', 7],
    ['100', 100],
    ...[
      '0',
      '101',
      '01',
      '-1',
      '+1',
      '1.0',
      '1e2',
      '0x1',
      '',
      ' 1',
      '1 ',
      'abc',
      '１',
      '99999999999999999',
    ].map(word => [word, refusal] as const),
  ] as const)('%j as a whole number from 1 to 100', (word, expected) => {
    expect(reading(() => small(word))).toBe(expected)
  })

  test.each([
    ['0', 0],
    ['0.5', 0.5],
    ['12.25', 12.25],
    ...['', '.', 'abc', 'NaN', 'Infinity', '0x1', '1,5', '1 ', '１', '1.2.3'].map(
      word => [word, refusal] as const,
    ),
  ] as const)('%j as a number', (word, expected) => {
    expect(reading(() => parseDecimal(word))).toBe(expected)
  })

  test.each([
    ['urgent', 'urgent'],
    ['high', 'high'],
    ['medium', 'medium'],
    ['low', 'low'],
    ['0', 0],
    ['10', 10],
    ['255', 255],
    ...['', '256', '-1', '1.5', '007', '1e1', 'default', 'highest', ' high', '１'].map(
      word => [word, refusal] as const,
    ),
  ] as const)('%j as a priority', (word, expected) => {
    expect(reading(() => priority.parse(word))).toBe(expected)
  })

  const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'
  test.each([
    [id, id],
    [id.toUpperCase(), id.toUpperCase()],
    ...[
      '',
      `{${id}}`,
      id.slice(1),
      `${id}0`,
      id.replaceAll('-', ''),
      '../x',
      `${id}\n`,
      `g${id.slice(1)}`,
    ].map(word => [word, refusal] as const),
  ] as const)('%j as a test id', (word, expected) => {
    expect(reading(() => testId.parse(word))).toBe(expected)
  })

  test('a text is not empty, a choice is one of its words', () => {
    expect(reading(() => textParser('branch')(''))).toBe(refusal)
    expect(textParser('branch')('a b')).toBe('a b')
    expect(reading(() => textParser('branch')(' a '))).toBe(refusal)
    expect(choiceParser(['single', 'parallel'])('parallel')).toBe('parallel')
    expect(reading(() => choiceParser(['single', 'parallel'])('both'))).toBe(refusal)
    expect(reading(() => choiceParser(['single', 'parallel'])(''))).toBe(refusal)
  })

  test.each(['DRAINING', 'draining', 'Draining'])('%s is a choice that is in upper case', word => {
    expect(choiceParser(['PAUSED', 'DRAINING'])(word)).toBe('DRAINING')
    expect(reading(() => choiceParser(['PAUSED', 'DRAINING'])(`${word}s`))).toBe(refusal)
  })
})

describe('a base address', () => {
  test.each([
    ['https://h/v1', 'https://h/v1'],
    ['https://h/v1/', 'https://h/v1'],
    ['https://h/v1//', 'https://h/v1'],
    ['HTTPS://H:443/v1', 'https://h/v1'],
    ['https://h', 'https://h'],
    ['https://h:8443/a/b', 'https://h:8443/a/b'],
    ['http://localhost:8080/v1', 'http://localhost:8080/v1'],
    ['http://127.0.0.1:8080/v1', 'http://127.0.0.1:8080/v1'],
    ['http://127.1.2.3/v1', 'http://127.1.2.3/v1'],
    ['http://[::1]:8080/v1', 'http://[::1]:8080/v1'],
  ])('%s is taken as %s', (word, expected) => {
    expect(parseBaseUrl(word)).toBe(expected)
  })

  test.each([
    '',
    'api.trunk.io/v1',
    '/v1',
    '//h/v1',
    'ftp://h/v1',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://',
    'http://h/v1',
    'http://localhost.evil.test/v1',
    'http://127.0.0.1.evil.test/v1',
    'http://0.0.0.0/v1',
    'http://[::2]/v1',
    'http://[::ffff:10.0.0.1]/v1',
    'https://user@h/v1',
    'https://user:secret@h/v1',
    'https://api.example.com@evil.test',
    'https://h/v1?a=b',
    'https://h/v1?',
    'https://h/v1#a',
    'https://h/v1#',
  ])('%s is refused', word => {
    expect(reading(() => parseBaseUrl(word))).toBe(refusal)
    expect(complaint(() => parseBaseUrl(word))).not.toMatch(/secret|user@|undefined/)
  })

  test.each([
    ['localhost', true],
    ['127.0.0.1', true],
    ['127.255.255.254', true],
    ['[::1]', true],
    ['example.com', false],
    ['127.0.0.1.example.com', false],
    ['localhost.example.com', false],
    ['128.0.0.1', false],
    ['0.0.0.0', false],
    ['[::]', false],
  ])('%s is this machine: %s', (hostname, expected) => {
    expect(isLoopback(hostname)).toBe(expected)
  })
})

describe('a token', () => {
  const where = '-R acme/web -b main'
  const answer = (): Answer => ({ body: '{"state":"running"}' })

  test.each([
    ['tok_x', 'tok_x'],
    ['tok_x\n', 'tok_x'],
    ['\r\n\t tok_x \v\f', 'tok_x'],
    ['!~', '!~'],
    ['a'.repeat(4096), 'a'.repeat(4096)],
  ])('is trimmed of ASCII white space: %j', (args, value) => {
    expect(parseToken(args, 'MERGEQ_TOKEN').value).toBe(value)
  })

  const bad: readonly (readonly [what: string, args: string, code: string, position: number])[] = [
    ['a BOM', '\uFEFFtok_secret', 'U+FEFF', 1],
    ['smart quotes', '“tok_secret”', 'U+201C', 1],
    ['a non-breaking space', 'tok\u00A0secret', 'U+00A0', 4],
    ['a non-breaking space at its end', 'tok_secret\u00A0', 'U+00A0', 11],
    ['a space inside', 'tok secret', 'U+0020', 4],
    ['a line break inside', '  tok\nsecret', 'U+000A', 6],
    ['an escape', 'tok\u001Bsecret', 'U+001B', 4],
    ['a DEL', 'tok\u007Fsecret', 'U+007F', 4],
    ['a NUL', 'tok\u0000secret', 'U+0000', 4],
    ['an emoji', 'tok😀secret', 'U+1F600', 4],
  ]

  test.each(bad)('%s is named, never the value', (_, args, code, position) => {
    const said = complaint(() => parseToken(args, 'MERGEQ_TOKEN'))
    expect(said).toContain(`${code} at position ${position}`)
    expect(said).toMatch(/^Invalid token \(MERGEQ_TOKEN\): /)
    expect(said).not.toMatch(/tok_|secret|ByteString/)
  })

  test.each(['', '--json'])('a bad token is refused before anything is sent (%s)', async format => {
    const { out, err, requests, code } = await mergeq(`queue get ${where} ${format}`, {
      answer,
      env: { MERGEQ_TOKEN: 'tok secret' },
    })
    expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
    expect(err).toContain('U+0020 at position 4')
    expect(err).not.toMatch(/tok_|secret|ByteString/)
  })

  test.each([
    ['4097 characters', 'k'.repeat(4097)],
    ['8 KiB', 'k'.repeat(8192)],
  ])('%s are refused for their length', async (_, args) => {
    const { code, out, err, requests } = await mergeq(`queue get ${where}`, {
      answer,
      env: { MERGEQ_TOKEN: args },
    })
    expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
    expect(err).toMatch(/^mergeq: .*longer than 4096 characters/)
    expect(err).not.toContain('kkk')
  })

  test('10 MB on standard input of auth login is refused', async () => {
    const { code, out, err, requests } = await mergeq('auth login --with-token', {
      answer,
      input: 'k'.repeat(10_000_000),
    })
    expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
    expect(err).toMatch(/^mergeq: .* too long/)
    expect(err).not.toContain('kkk')
  })

  test.each(['', ' ', '\n'])('%j in MERGEQ_TOKEN counts as unset, and the message says so', async args => {
    const { code, out, err, requests } = await mergeq(`queue get ${where}`, {
      answer,
      env: { MERGEQ_TOKEN: args },
    })
    expect({ code, out, requests }).toEqual({ code: 4, out: '', requests: [] })
    expect(err).toMatch(/^mergeq: .*MERGEQ_TOKEN is set but empty/)
    expect(err).toMatch(/forks/)
    expect(err).toMatch(/\n {2}.*: mergeq auth login\n/)
  })

  const stored = JSON.stringify({ tokens: { 'http://127.0.0.1:1': 'tok_stored_1234' } })
  const config = {
    env: { MERGEQ_TOKEN: '', MERGEQ_CONFIG_DIR: '/config' },
    files: { '/config/config.json': stored },
  }

  test('then the stored token is used, and auth status says so', async () => {
    const { code, out, err, requests } = await mergeq(
      'auth status --no-verify --json --base-url http://127.0.0.1:1/v1',
      {
        ...config,
        answer,
      },
    )
    expect({ code, requests }).toEqual({ code: 0, requests: [] })
    expect(JSON.parse(out)).toMatchObject({ origin: 'http://127.0.0.1:1' })
    expect(out).toMatch(/stored/)
    expect(out).not.toContain('tok_stored')
    expect(err).toMatch(/MERGEQ_TOKEN is set but empty/)
  })

  test('a token stored for another origin is refused before anything is sent', async () => {
    const { code, out, err, requests } = await mergeq(`queue get ${where}`, { ...config, answer })
    expect({ code, out, requests }).toEqual({ code: 4, out: '', requests: [] })
    expect(err).toContain('http://127.0.0.1:1')
    expect(err).toMatch(/\n {2}.*auth login/)
    expect(err).not.toContain('tok_stored')
  })

  test('TRUNK_API_TOKEN is used for the default base address only', async () => {
    const { code, requests } = await mergeq(`queue get ${where}`, {
      answer,
      env: { MERGEQ_TOKEN: '', TRUNK_API_TOKEN: 'tok_other_service' },
    })
    expect({ code, requests }).toEqual({ code: 4, requests: [] })
    const { out } = await mergeq('auth status --no-verify --json', {
      env: { MERGEQ_TOKEN: '', TRUNK_API_TOKEN: 'tok_other_service' },
    })
    expect(JSON.parse(out)).toMatchObject({ source: 'TRUNK_API_TOKEN', origin: 'https://api.trunk.io' })
  })
})

describe('states', () => {
  test('are those of the API document', () => {
    expect([...pullRequestStates].sort()).toEqual([
      'CANCELLED',
      'FAILED',
      'MERGED',
      'NOT_READY',
      'PENDING',
      'PENDING_FAILURE',
      'TESTING',
      'TESTS_PASSED',
    ])
    expect([...queueStates].sort()).toEqual(['DRAINING', 'PAUSED', 'RUNNING', 'SWITCHING_MODES'])
  })

  test.each([...pullRequestStates, ...queueStates])('%s is spelled so in any case', state => {
    for (const word of [state, state.toLowerCase(), `${state[0]}${state.slice(1).toLowerCase()}`])
      expect(normalizeState(word)).toBe(state)
  })

  test.each(['', 'warming_up', 'Warming_Up', 'MERGED ', 'merged\n', 'constructor', '__proto__'])(
    '%j, which is unknown, stays as it is',
    word => {
      expect(normalizeState(word)).toBe(word)
    },
  )

  test.each([
    [
      { state: 'merged', other: 'merged', deep: { state: 'merged' } },
      { state: 'MERGED', other: 'merged', deep: { state: 'merged' } },
    ],
    [{ state: 7 }, { state: 7 }],
    [{ state: null }, { state: null }],
    [{}, {}],
  ])('a record keeps everything but the case of its own state: %j', (record, expected) => {
    expect(withNormalizedState(record)).toEqual(expected)
  })

  test.each([
    [{ state: 'merged' }, 'ok'],
    [{ state: 'MERGED', isCurrentlySubmittedToQueue: true }, 'ok'],
    [{ state: 'failed', isCurrentlySubmittedToQueue: false }, 'failed'],
    [{ state: 'failed' }, 'failed'],
    [{ state: 'FAILED', isCurrentlySubmittedToQueue: true }, 'pending'],
    [{ state: 'cancelled', isCurrentlySubmittedToQueue: false }, 'cancelled'],
    [{ state: 'CANCELLED' }, 'cancelled'],
    [{ state: 'cancelled', isCurrentlySubmittedToQueue: true }, 'pending'],
    ...['not_ready', 'pending', 'testing', 'tests_passed', 'pending_failure', 'warming_up'].map(
      state => [{ state, isCurrentlySubmittedToQueue: false }, 'pending'] as const,
    ),
    [{}, 'pending'],
    [{ state: null }, 'pending'],
  ] as const)('the outcome of %j is %s', (record, expected) => {
    expect(outcomeOfRecord(record)).toBe(expected)
  })
})

describe('the text format of metrics', () => {
  const read = (text: string) =>
    parseSamples(text).map(({ labels, ...sample }) => ({ ...sample, labels: { ...labels } }))
  const one = (line: string) => read(line)[0]

  test.each([
    ['up 1', { name: 'up', value: 1, labels: {} }],
    ['up{} 1', { name: 'up', value: 1, labels: {} }],
    ['ns:up_total 1', { name: 'ns:up_total', value: 1, labels: {} }],
    ['  up   1  ', { name: 'up', value: 1, labels: {} }],
    ['up\t1', { name: 'up', value: 1, labels: {} }],
    ['up 1 1767614400000', { name: 'up', value: 1, labels: {} }],
    ['up 1 -5', { name: 'up', value: 1, labels: {} }],
    ['up 1.5e3', { name: 'up', value: 1500, labels: {} }],
    ['up -0.5', { name: 'up', value: -0.5, labels: {} }],
    ['up +5', { name: 'up', value: 5, labels: {} }],
    ['up .5', { name: 'up', value: 0.5, labels: {} }],
    ['up NaN', { name: 'up', value: Number.NaN, labels: {} }],
    ['up +Inf', { name: 'up', value: Number.POSITIVE_INFINITY, labels: {} }],
    ['up -Inf', { name: 'up', value: Number.NEGATIVE_INFINITY, labels: {} }],
    ['up{a="b"} 1', { name: 'up', value: 1, labels: { a: 'b' } }],
    ['up{a="b",} 1', { name: 'up', value: 1, labels: { a: 'b' } }],
    ['up { a = "b" , c = "" } 1', { name: 'up', value: 1, labels: { a: 'b', c: '' } }],
    ['up{repo="acme/web",le="+Inf"} 3', { name: 'up', value: 3, labels: { repo: 'acme/web', le: '+Inf' } }],
    [
      'up{a="q\\"q",b="s\\\\s",c="n\\nn"} 1',
      { name: 'up', value: 1, labels: { a: 'q"q', b: 's\\s', c: 'n\nn' } },
    ],
    ['up{a="} 2",b="#,{="} 1', { name: 'up', value: 1, labels: { a: '} 2', b: '#,{=' } }],
    ['up{a="é😀"} 1', { name: 'up', value: 1, labels: { a: 'é😀' } }],
  ])('%j is read', (line, expected) => {
    expect(one(line)).toEqual({ type: 'untyped', ...expected })
  })

  test.each([
    'up',
    'up{a="b"}',
    'up one',
    'up 1 2 3',
    'up 1 now',
    'up 1_000',
    'up 1,5',
    'up --1',
    '1up 1',
    'up-time 1',
    '{a="b"} 1',
    'up{a="b" 1',
    'up{a="b} 1',
    'up{a=b} 1',
    "up{a='b'} 1",
    'up{a="b" c="d"} 1',
    'up{,} 1',
    'up{1a="b"} 1',
    'up{a="b"} {c="d"} 1',
    '<html><body>',
    'Not Found',
    '{"error":"no"}',
  ])('%j is not of the format', line => {
    let kind: unknown
    try {
      parseSamples(`up 1\n${line}\n`)
    } catch (error) {
      kind = isMergeqError(error) && error.kind
      expect(String(error)).toContain('line 2')
    }
    expect(kind).toBe('bad-answer')
  })

  test('comments, blank lines and CRLF pass; types go to their family', () => {
    const text = [
      '# HELP mq_depth_current How deep',
      '# TYPE mq_depth_current gauge',
      'mq_depth_current{queue_type="main"} 4',
      '',
      '# just a comment',
      '# TYPE mq_wait histogram',
      'mq_wait_bucket{le="60"} 1',
      'mq_wait_bucket{le="+Inf"} 2',
      'mq_wait_sum 90',
      'mq_wait_count 2',
      '#TYPE is no comment of ours',
      'mq_other 1',
      '',
    ].join('\r\n')
    expect(read(text)).toEqual([
      { name: 'mq_depth_current', type: 'gauge', labels: { queue_type: 'main' }, value: 4 },
      { name: 'mq_wait_bucket', type: 'histogram', labels: { le: '60' }, value: 1 },
      { name: 'mq_wait_bucket', type: 'histogram', labels: { le: '+Inf' }, value: 2 },
      { name: 'mq_wait_sum', type: 'histogram', labels: {}, value: 90 },
      { name: 'mq_wait_count', type: 'histogram', labels: {}, value: 2 },
      { name: 'mq_other', type: 'untyped', labels: {}, value: 1 },
    ])
  })

  // Text format 0.0.4: only histograms and summaries have series with these endings.
  test('a gauge has no _count', () => {
    expect(read('# TYPE mq gauge\nmq 1\nmq_count 2').map(({ type }) => type)).toEqual(['gauge', 'untyped'])
  })

  test('keys of objects are labels like any other', () => {
    const labels = parseSamples('up{__proto__="x",constructor="y"} 1')[0]?.labels ?? {}
    expect(Object.entries(labels)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ])
  })

  test('any label value is read back from its escaped form', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.double(), (value, number) => {
        const escaped = value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
        const written = Number.isFinite(number) ? String(number) : String(number).replace('Infinity', 'Inf')
        expect(one(`up{a="${escaped}"} ${written}`)).toEqual({
          name: 'up',
          type: 'untyped',
          labels: { a: value },
          value: Object.is(number, -0) ? 0 : number,
        })
      }),
    )
  })
})

describe('listing failing tests', () => {
  interface Page {
    readonly ids?: readonly (string | object)[]
    readonly next?: string | null
    readonly page?: object
    readonly status?: number
  }
  const org = '-R acme/web --org acme --retries 0'
  const body = ({ ids = [], next, page = {} }: Page) =>
    JSON.stringify({
      tests: ids.map(id => (typeof id === 'string' ? { id, name: id } : id)),
      page: { ...page, ...(next === undefined ? {} : { next_page_token: next }) },
    })

  /** Walks pages that answer by token; `''` is the first. */
  const walk = (flags: string, pages: (token: string, index: number) => Page, setting: Setting = {}) =>
    mergeq(`flaky list ${org} ${flags}`, {
      ...setting,
      answer: ({ body: asked }, index) => {
        const { page_token = '' } = JSON.parse(asked).page_query
        const page = pages(page_token, index)
        return { status: page.status ?? 200, body: page.status === undefined ? body(page) : 'no' }
      },
    })

  const by = (pages: Readonly<Record<string, Page>>) => (token: string) => pages[token] ?? { status: 400 }
  const ids = ({ out }: Outcome) => out.split('\n').filter(line => line !== '')
  const tokens = ({ requests }: Outcome) => requests.map(({ body }) => JSON.parse(body).page_query.page_token)
  const ofIds = '--fields id'

  test('pages are followed until the token is empty, with both instants fixed', async () => {
    const outcome = await walk(
      ofIds,
      by({ '': { ids: ['a'], next: 'p2' }, p2: { ids: ['b'], next: 'p3' }, p3: { ids: ['c'], next: '' } }),
    )
    expect({ code: outcome.code, ids: ids(outcome), tokens: tokens(outcome) }).toEqual({
      code: 0,
      ids: ['a', 'b', 'c'],
      tokens: ['', 'p2', 'p3'],
    })
    expect(new Set(outcome.requests.map(({ body }) => JSON.parse(body).start_time)).size).toBe(1)
    expect(outcome.err).toMatch(/^3 tests .*2026-01-04T12:00:00.000Z to 2026-01-05T12:00:00.000Z/)
  })

  test('tokens that repeat stop the list at the first one seen before', async () => {
    const circle = by({
      '': { ids: ['a'], next: 'A' },
      A: { ids: ['b'], next: 'B' },
      B: { ids: ['c'], next: 'C' },
      C: { ids: ['d'], next: 'A' },
    })
    const outcome = await walk(ofIds, circle)
    expect({ code: outcome.code, ids: ids(outcome), requests: outcome.requests.length }).toEqual({
      code: 17,
      ids: ['a', 'b', 'c', 'd'],
      requests: 4,
    })
    expect(outcome.err).toMatch(/the same page token twice/)
    const { out } = await walk('--json', circle)
    expect(JSON.parse(out).window.complete).toBe(false)
  })

  test('a token that names itself stops after two requests', async () => {
    const outcome = await walk(ofIds, token => ({ ids: [`t${token}`], next: 'A' }))
    expect({ code: outcome.code, ids: ids(outcome), requests: outcome.requests.length }).toEqual({
      code: 17,
      ids: ['t', 'tA'],
      requests: 2,
    })
  })

  test('new page tokens without end stop at --max-pages, and the hint says how to raise it', async () => {
    const outcome = await walk(`${ofIds} --max-pages 5`, (_, index) => ({
      ids: [`t${index}`],
      next: `p${index + 1}`,
    }))
    expect({ code: outcome.code, ids: ids(outcome), requests: outcome.requests.length }).toEqual({
      code: 17,
      ids: ['t0', 't1', 't2', 't3', 't4'],
      requests: 5,
    })
    expect(outcome.err).toMatch(/--max-pages/)
  })

  test('exactly --max-pages pages are complete', async () => {
    const outcome = await walk(
      `${ofIds} --max-pages 2`,
      by({ '': { ids: ['a'], next: 'p2' }, p2: { ids: ['b'], next: '' } }),
    )
    expect({ code: outcome.code, ids: ids(outcome) }).toEqual({ code: 0, ids: ['a', 'b'] })
  })

  test('empty pages without end stop by themselves', async () => {
    const outcome = await walk(ofIds, (_, index) => ({
      ids: index === 0 ? ['a'] : [],
      next: `p${index + 1}`,
    }))
    expect({ code: outcome.code, ids: ids(outcome) }).toEqual({ code: 17, ids: ['a'] })
    expect(outcome.requests.length).toBeLessThan(1_000)
  })

  test('pages that shrink while they are read give unique rows, and their number is reported', async () => {
    const outcome = await walk(
      ofIds,
      by({
        '': { ids: ['a', 'b', 'c'], next: 'p2' },
        p2: { ids: ['c', 'd'], next: 'p3' },
        p3: { ids: [], next: '' },
      }),
    )
    expect({ code: outcome.code, ids: ids(outcome) }).toEqual({ code: 0, ids: ['a', 'b', 'c', 'd'] })
    expect(outcome.err).toMatch(/^4 tests /)
  })

  test('the same rows on several pages are one row for each id, with a note', async () => {
    const rows = ['a', 'b']
    const outcome = await walk(
      ofIds,
      by({ '': { ids: rows, next: 'p2' }, p2: { ids: [...rows, 'a'], next: '' } }),
    )
    expect({ code: outcome.code, ids: ids(outcome) }).toEqual({ code: 0, ids: rows })
    expect(outcome.err).toMatch(/3 duplicate rows/)
  })

  test.each([
    ['""', ''],
    ['null', null],
    ['absent', undefined],
  ])('%s as the last token is the end', async (_, next) => {
    const outcome = await walk(ofIds, () => ({ ids: ['a'], ...(next === undefined ? {} : { next }) }))
    expect({ code: outcome.code, ids: ids(outcome), requests: outcome.requests.length }).toEqual({
      code: 0,
      ids: ['a'],
      requests: 1,
    })
  })

  test('a page that fails for good keeps the rows before it, marked incomplete', async () => {
    const pages = (token: string): Page => (token === '' ? { ids: ['a'], next: 'p2' } : { status: 500 })
    const table = await walk(ofIds, pages)
    expect({ code: table.code, ids: ids(table) }).toEqual({ code: 17, ids: ['a'] })
    expect(table.err).toMatch(/incomplete/)
    const json = await walk('--json', pages)
    expect(json.code).toBe(17)
    expect(json.out.split('\n')).toHaveLength(2)
    expect(JSON.parse(json.out)).toMatchObject({
      tests: [{ id: 'a' }],
      window: {
        start: '2026-01-04T12:00:00.000Z',
        end: '2026-01-05T12:00:00.000Z',
        complete: false,
      },
    })
    expect(JSON.parse(json.err.trimEnd().split('\n').at(-1) ?? '').error).toMatchObject({
      kind: 'incomplete',
      exit: 17,
      operation: 'flaky-tests/list-failing-tests',
    })
  })

  test('a first page that fails prints nothing', async () => {
    const { code, out } = await walk('--json', () => ({ status: 500 }))
    expect({ code, out }).toEqual({ code: 7, out: '' })
  })

  test('what was streamed before a failure is whole lines', async () => {
    const { code, out } = await walk('-o ndjson', token =>
      token === '' ? { ids: ['a', 'b'], next: 'p2' } : { status: 500 },
    )
    expect(code).toBe(17)
    expect(
      out
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line)),
    ).toEqual([
      { id: 'a', name: 'a' },
      { id: 'b', name: 'b' },
    ])
    expect(out.endsWith('\n')).toBe(true)
  })

  test('a token that is revoked between pages is the reason reported', async () => {
    const outcome = await walk(ofIds, token => (token === '' ? { ids: ['a'], next: 'p2' } : { status: 401 }))
    expect({ code: outcome.code, ids: ids(outcome) }).toEqual({ code: 4, ids: ['a'] })
    expect(outcome.err).toMatch(/rejected the token/)
    expect(outcome.err).toMatch(/incomplete/)
  })

  test('tokens decide when the list ends, not totals', async () => {
    const lie = { total_rows: 3, total_pages: 1, page_index: 0 }
    const outcome = await walk(
      ofIds,
      by({
        '': { ids: ['a'], next: 'p2', page: lie },
        p2: { ids: ['b'], next: 'p3', page: lie },
        p3: { ids: ['c', 'd'], next: '', page: lie },
      }),
    )
    expect({ code: outcome.code, ids: ids(outcome), requests: outcome.requests.length }).toEqual({
      code: 0,
      ids: ['a', 'b', 'c', 'd'],
      requests: 3,
    })
  })

  test('--limit is kept although the service sends more; the list is incomplete, without an error', async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => `t${index}`)
    const pages = () => ({ ids: many, next: 'p2' })
    const table = await walk(`${ofIds} --limit 10`, pages)
    expect({ code: table.code, ids: ids(table), requests: table.requests.length }).toEqual({
      code: 0,
      ids: many.slice(0, 10),
      requests: 1,
    })
    const json = JSON.parse((await walk('--limit 10 --json', pages)).out)
    expect({ number: json.tests.length, complete: json.window.complete }).toEqual({
      number: 10,
      complete: false,
    })
  })

  test('--limit that the whole list fits is complete', async () => {
    const { code, out } = await walk(
      '--limit 2 --json',
      by({ '': { ids: ['a'], next: 'p2' }, p2: { ids: ['b'], next: '' } }),
    )
    expect({ code, complete: JSON.parse(out).window.complete }).toEqual({ code: 0, complete: true })
  })

  test('20 days are walked in windows, newest first, each test once', async () => {
    const outcome = await walk(`${ofIds} --since 20d`, (_, index) => ({
      ids: ['every', `w${index}`],
      next: '',
    }))
    expect({ code: outcome.code, ids: ids(outcome) }).toEqual({ code: 0, ids: ['every', 'w0', 'w1', 'w2'] })
    expect(
      outcome.requests
        .map(({ body }) => JSON.parse(body))
        .map(({ start_time, end_time }) => [start_time, end_time]),
    ).toEqual([
      ['2025-12-29T12:00:00.000Z', '2026-01-05T12:00:00.000Z'],
      ['2025-12-22T12:00:00.000Z', '2025-12-29T12:00:00.000Z'],
      ['2025-12-16T12:00:00.000Z', '2025-12-22T12:00:00.000Z'],
    ])
    expect(outcome.err).toContain('2025-12-16T12:00:00.000Z to 2026-01-05T12:00:00.000Z')
  })

  test('a page token of one window may come again in the next', async () => {
    const outcome = await walk(`${ofIds} --since 14d`, (token, index) => ({
      ids: [`t${index}`],
      next: token === '' ? 'p2' : '',
    }))
    expect({ code: outcome.code, tokens: tokens(outcome) }).toEqual({ code: 0, tokens: ['', 'p2', '', 'p2'] })
  })

  test.each([
    [-day, '2026-01-04T11:00:00.000Z', '2026-01-04T12:00:00.000Z'],
    [day, '2026-01-06T11:00:00.000Z', '2026-01-06T12:00:00.000Z'],
  ])(
    'a clock that is off by %i ms is used, and the range it asked for is reported',
    async (off, start, end) => {
      const { code, err, requests } = await walk(`--since 1h`, () => ({ next: '' }), { now: noon + off })
      expect(code).toBe(0)
      expect(JSON.parse(requests[0]?.body ?? '{}')).toMatchObject({ start_time: start, end_time: end })
      expect(err).toContain(`${start} to ${end}`)
    },
  )

  test('--page-token gives one page, as the service gives it', async () => {
    const { code, out, requests } = await walk(
      `--page-token p2 --json`,
      by({ p2: { ids: ['b'], next: 'p3', page: { total_rows: 9 } } }),
    )
    expect({ code, tokens: requests.map(({ body }) => JSON.parse(body).page_query.page_token) }).toEqual({
      code: 0,
      tokens: ['p2'],
    })
    expect(JSON.parse(out)).toMatchObject({
      tests: [{ id: 'b' }],
      page: { total_rows: 9, next_page_token: 'p3' },
      window: { complete: false },
    })
  })

  const sample = [
    {
      id: 'a',
      name: 'cart total',
      file_path: 'src/cart/total.ts',
      quarantined: true,
      codeowners: ['@acme/web'],
      failure_rate_last_7d: 0.5,
      pull_requests_impacted_last_7d: 1,
      status: { timestamp: '2026-01-03T00:00:00Z' },
    },
    {
      id: 'b',
      name: 'cart/add',
      file_path: 'src/add.ts',
      quarantined: false,
      codeowners: [],
      failure_rate_last_7d: 0.1,
      pull_requests_impacted_last_7d: 9,
      status: { timestamp: 'soon' },
    },
    {
      id: 'c',
      name: 'Login',
      file_path: 'src/login.tsx',
      quarantined: null,
      codeowners: null,
      failure_rate_last_7d: 0.9,
      most_common_failures: [{ last_occurrence: '2026-01-05T00:00:00Z' }],
    },
    { id: 'd' },
  ]
  const two = (token: string): Page =>
    token === '' ? { ids: sample.slice(0, 2), next: 'p2' } : { ids: sample.slice(2), next: '' }

  test.each([
    ['', ['a', 'b', 'c', 'd']],
    ['--quarantined', ['a']],
    ['--no-quarantined', ['b']],
    ['--owner @acme/web', ['a']],
    ['--owner acme', []],
    ['--min-failure-rate 0.5', ['a', 'c']],
    ["--name 'cart*'", ['a', 'b']],
    ["--name 'cart?total'", ['a']],
    ['--name cart', []],
    ["--name '*[.+^$'", []],
    ["--path 'src/*.ts'", ['b']],
    ["--path 'src/**'", ['a', 'b', 'c']],
    ["--path 'src/**/*.ts'", ['a', 'b']],
    ["--path '**/total.ts'", ['a']],
    ["--path 'src/?ogin.tsx'", ['c']],
    ["--name 'cart*' --no-quarantined", ['b']],
  ])('filters: %j keeps %j', async (flags, expected) => {
    const outcome = await walk(`${ofIds} ${flags}`, two)
    expect({ code: outcome.code, ids: ids(outcome), requests: outcome.requests.length }).toEqual({
      code: 0,
      ids: expected,
      requests: 2,
    })
  })

  test.each([
    ['impact', ['b', 'a']],
    ['rate', ['c', 'a', 'b']],
    ['recent', ['c', 'a']],
    ['name', ['d', 'c', 'a', 'b']],
  ])('--sort %s collects every page first; unreadable dates do not matter', async (key, expected) => {
    const whole = await walk(`${ofIds} --sort ${key}`, two)
    expect({
      code: whole.code,
      number: ids(whole).length,
      first: ids(whole).slice(0, expected.length),
    }).toEqual({
      code: 0,
      number: 4,
      first: expected,
    })
    const cut = await walk(`${ofIds} --sort ${key} --limit 1`, two)
    expect({ code: cut.code, ids: ids(cut), requests: cut.requests.length }).toEqual({
      code: 0,
      ids: expected.slice(0, 1),
      requests: 2,
    })
  })

  test('-q silences informational messages', async () => {
    const { code, err } = await walk('-q', () => ({ ids: ['a'], next: '' }))
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })
})

describe('--set', () => {
  test.each([
    ['a=1', ['a'], 1],
    ['a.b.c=true', ['a', 'b', 'c'], true],
    ['a=null', ['a'], null],
    ['a="5"', ['a'], '5'],
    ['a=5x', ['a'], '5x'],
    ['a=[1,"x"]', ['a'], [1, 'x']],
    ['a={"b":{"c":1}}', ['a'], { b: { c: 1 } }],
    ['a={"b"', ['a'], '{"b"'],
    ['a=', ['a'], ''],
    ['a= ', ['a'], ' '],
    ['a=b=c', ['a'], 'b=c'],
    ['a=b.c', ['a'], 'b.c'],
    ['__proto__.x=1', ['__proto__', 'x'], 1],
  ])('%s', (word, path, value) => {
    expect(parseOverride(word)).toEqual({ path, value })
  })

  test.each(['', '=', '=1', 'a', 'a.b', '.=1', 'a..b=1', '.a=1', 'a.=1'])('%j is refused', word => {
    expect(reading(() => parseOverride(word))).toBe(refusal)
  })

  const fields = {
    pr: { definitions: [{ name: 'pr', variadic: true, summary: '' }], read: () => 1 },
    size: { definitions: [{ name: '--size', value: 'n', summary: '' }], read: () => 1 },
  } as const
  const params = {
    pr: param(integer(0), '', { location: 'body.pr.number' }),
    size: param(integer(0), '', { location: 'body.size' }),
  }

  test.each([[['a=1', 'a=2']], [['a=1', 'a=1']], [['a.b=1', 'a=2']], [['a=1', 'a.b.c=2']]])(
    'a path twice is refused: %j',
    words => {
      expect(reading(() => readOverrides(new Map([['--set', words]]), fields, params))).toBe(refusal)
    },
  )

  test.each([
    ['size=2', ['--size', '1'], refusal],
    ['size.deep=2', ['--size', '1'], refusal],
    ['pr.number=8', ['pr', '7'], refusal],
    ['pr=8', ['pr', '7'], refusal],
    ['pr.note=x', ['pr', '7'], 'taken'],
    ['sizes=2', ['--size', '1'], 'taken'],
    ['size=2', ['pr', '7'], 'taken'],
  ] as const)('%s with %j is %s', (set, [name, value], expected) => {
    const args = new Map([
      ['--set', [set]],
      [name, [value]],
    ])
    expect(reading(() => readOverrides(args, fields, params) && 'taken')).toBe(expected)
  })

  test('any JSON is read back', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), value => {
        const written = JSON.stringify(value)
        expect(parseOverride(`a=${written}`).value).toEqual(JSON.parse(written))
      }),
    )
  })
})
