import { expect } from 'vitest'
import type { Answer, Seen } from './harness.ts'

/** Read in another letter case, by an eye or from base64, it is still the token. */
export const token = 'tok_W1re/Secret+42&Zx9=='

/** What a reader could undo: JSON and HTML escapes, percent-encoding. */
const unescapeText = (text: string): string =>
  text
    .replace(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\(.)/g, '$1')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replace(/&amp;/g, '&')

/** Pieces of so many characters of a token are more than chance. */
const minPieceLength = 6

/** The pieces of a token that a text shows, in any spelling. */
export function piecesIn(text: string, secret = token): readonly string[] {
  const forms = [0, 1, 2].map(shift =>
    Buffer.from('x'.repeat(shift) + secret)
      .toString('base64')
      .slice(shift + 1, -4),
  )
  const plain = unescapeText(text).toLowerCase()
  return [secret, ...forms].flatMap(form =>
    Array.from({ length: form.length - minPieceLength }, (_, at) =>
      form.slice(at, at + minPieceLength),
    ).filter(piece => text.includes(piece) || plain.includes(piece.toLowerCase())),
  )
}

const ownSequences = /\u001B\[(?:[\d;]*m|\d*[AGJK]|H|\?(?:7|25|1049|2026)[hl])|\r\n|\r(?=\u001B)/g
export const controlCharacters =
  /[\0-\x08\x0B-\x1F\x7F-\x9F\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]|[\u{E0000}-\u{E0FFF}]/u

/** What a terminal got holds nothing of the token, and nothing that acts but our own sequences. */
export function expectHarmless(text: string, where: string): void {
  const plain = text.replaceAll(ownSequences, '')
  expect({ where, acts: controlCharacters.exec(plain)?.[0], near: around(plain, controlCharacters) }).toEqual(
    {
      where,
      acts: undefined,
      near: '',
    },
  )
  // What is escaped is only text.
  expect(plain, where).not.toMatch(/(?<!u001b\]0;|%3B)pwned/)
  expect({ where, pieces: piecesIn(text) }).toEqual({ where, pieces: [] })
}
const around = (text: string, what: RegExp): string => {
  const at = text.search(what)
  return at === -1 ? '' : JSON.stringify(text.slice(Math.max(0, at - 40), at + 40))
}

/** Text that acts on a terminal or hides something in it, each followed by a word of the token's. */
export const hostileText = [
  '\x1B]0;pwned\x07',
  '\x1B]52;c;cHduZWQ=\x07',
  '\x9B2J',
  '\x1B[2J\x1B[31m\x1B[?1049h',
  '\u202Egnp\u202C\u2066',
  '\r\b\v\x7F\x85',
  '\u200B\u{E0041}',
  token,
  encodeURIComponent(token),
  Buffer.from(`x${token}`).toString('base64'),
  token.replaceAll('/', '\\/'),
].join(' ')

type Make = (text: string) => Readonly<Record<string, unknown>>
const test1: Make = text => ({
  id: '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a',
  name: text,
  variant: text,
  codeowners: [text],
  file_path: text,
  parent: text,
  classname: text,
  html_url: text,
  ticket: { html_url: text },
  status: { value: text, reason: text, timestamp: text },
  failure_rate_last_7d: text,
  pull_requests_impacted_last_7d: text,
  most_common_failures: [{ summary: `${text}\n${text}`, occurrence_count: text, last_occurrence: text }],
  [text]: text,
})
export const record: Make = text => ({
  id: text,
  state: text,
  stateChangedAt: text,
  prNumber: text,
  prTitle: text,
  prAuthor: text,
  prSha: text,
  prBaseBranch: text,
  priorityName: text,
  priorityValue: text,
  isCurrentlySubmittedToQueue: true,
  readiness: { [text]: text, requiredStatuses: [text], hasImpactedTargets: text, doesBaseBranchMatch: text },
  [text]: { [text]: [text] },
})
const run: Make = text => ({
  status: text,
  testBranch: text,
  testBranchSha: text,
  checkSuites: [{ name: text, checkRuns: [{ name: text, conclusion: text, status: text, url: text }] }],
  statusChecks: [{ context: text, state: text, url: text, description: text }],
  impactedTargets: [text],
  [text]: text,
})
const queueOf: Make = text => ({
  state: text,
  mode: text,
  branch: text,
  concurrency: text,
  requiredStatuses: [text],
  enqueuedPullRequests: [
    record(text),
    { ...record(text), prNumber: 7 },
    { ...record(text), prNumber: 8, state: 'TESTING' },
  ],
  [text]: text,
})
const documents: Readonly<Record<string, (text: string) => unknown>> = {
  getQueue: queueOf,
  updateQueue: queueOf,
  getSubmittedPullRequest: record,
  getMergeQueueTestingDetails: run,
  'flaky-tests/list-failing-tests': text => ({
    tests: [test1(text)],
    page: { next_page_token: '', total_rows: text },
    [text]: text,
  }),
  'flaky-tests/get-test-details': text => ({ test: test1(text), [text]: text }),
  getMergeQueueMetrics: text => {
    const label = text.replaceAll(/[\n\\"]/g, '')
    return `# HELP mq_depth_current ${label}\n# TYPE mq_depth_current gauge\nmq_depth_current{repo="${label}",branch="main"} 3\nmq_depth_current{branch="${label}"} 4\n`
  },
}
export const operation = ({ path }: Seen): string => path.replace(/^\/v1\//, '').replace(/\?.*/, '')
export const answerOf =
  (text: string) =>
  (seen: Seen): Answer => {
    const document = documents[operation(seen)]?.(text) ?? { message: text, [text]: text }
    return {
      body: typeof document === 'string' ? document : JSON.stringify(document),
      headers: { 'x-request-id': encodeURIComponent(text), 'x-evil': token },
    }
  }
