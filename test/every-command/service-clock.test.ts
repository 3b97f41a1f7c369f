import { describe, expect, onTestFinished, test } from 'vitest'
import { clientOperations } from '../../src/api/operations/index.ts'
import { moment } from '../../src/values/types.ts'
import { askingFiles, askingLines } from '../support/asking-commands.ts'
import { allCommands } from '../support/commands.ts'
import { mergeq, openStory, type Script, type Story } from '../support/harness.ts'
import { createHostClient, hostAt } from '../support/library-client.ts'
import { startTestServer, type TestServer } from '../support/service.ts'

const hour = 3_600_000

/** How far the clock of this machine is ahead of that of the service. */
const skews = [
  { name: '2 hours ahead', skew: 2 * hour, says: "This machine's clock is 2h ahead of the service's." },
  {
    name: '30 days behind',
    skew: -30 * 24 * hour,
    says: "This machine's clock is 30 days behind the service's.",
  },
]

/** What is typed for the options that count back from now. */
const typed: Readonly<Record<string, string>> = {
  '--since': '3h',
  '--until': '1h',
  '--window': '8d',
  '--stalled': '1h',
}

/** What is typed where the usual line has such an option already, or needs none. */
const ownLines: Readonly<Record<string, string>> = {
  'flaky get': 'nothing-like-it',
  'flaky list': '',
  'queue check': '--max-depth 3',
}

const isRange = ({ name, value }: { readonly name: string; readonly value?: string }): boolean =>
  value === moment.placeholder || name === '--window' || name === '--stalled'

/** The lines of the options that take a time in the past, and of the commands that say how long something lasts. */
const lines = [
  ...allCommands.flatMap(({ command, definitions }) =>
    definitions
      .filter(isRange)
      .map(
        ({ name }) => `${command} ${ownLines[command] ?? askingLines[command] ?? ''} ${name} ${typed[name]}`,
      ),
  ),
  'flaky list',
  'queue explain',
  'pr explain 7',
].map(line => line.replace(/ +/g, ' '))

/** A sandbox whose clock is not that of the machine, which is `skew` milliseconds ahead. */
async function openService(skew: number, { isDated = true } = {}) {
  const story = await openStory()
  await story.mergeq('pr submit 7')
  await story.mergeq('pr wait 7 --interval 1s')
  for (const pr of [7, 8]) await story.mergeq(`pr submit ${pr}`)
  story.clock.now = Math.ceil((story.clock.now + 10_000) / 1_000) * 1_000
  const answer: Script = seen => {
    const { headers, ...response } = story.answer(seen)
    const { date = '', ...others } = headers
    return { ...response, headers: isDated ? { ...others, date } : others }
  }
  const server = await startTestServer({ answer, isInProcess: true })
  onTestFinished(server.close)
  const clock = {
    get now() {
      return story.clock.now + skew
    },
    set now(time: number) {
      story.clock.now = time - skew
    },
  }
  const env: Story['env'] = { ...story.env, MERGEQ_BASE_URL: server.baseUrl() }
  return { clock, env, server }
}

/** The times in what was sent, by the clock of the service where the machine is `skew` milliseconds ahead. */
const shifted = (body: string, skew: number): string =>
  body.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, time => new Date(Date.parse(time) - skew).toISOString())

/** What was sent, but for the tokens of pages: a sandbox makes them of the range. */
const sentTo = ({ requests }: TestServer): readonly string[] =>
  requests.map(({ path, body }) => `${path} ${body.replace(/"page_token":"[^"]+"/, '"page_token":"next"')}`)

/** The first request with a range; empty where there is none. */
const firstRange = (sent: readonly string[]): string =>
  sent.find(request => /\d{4}-\d\d-\d\dT/.test(request)) ?? ''

async function run(line: string, skew: number, options: { readonly isDated?: boolean } = {}) {
  const { clock, env, server } = await openService(skew, options)
  const { code, out, err } = await mergeq(line, { clock, env, files: askingFiles })
  return { code, out, sent: sentTo(server), warnings: err.match(/This machine's clock [^\n]*/g) ?? [] }
}

describe('commands count from the clock of the service, and without a Date from that of this machine', () => {
  test.each(lines)('%s', async line => {
    const right = await run(line, 0)
    expect(right.warnings).toEqual([])
    expect(right.code).not.toBe(2)
    for (const { name, skew, says } of skews) {
      const { code, out, sent, warnings } = await run(line, skew)
      expect({ name, code, out, warnings }).toEqual({
        name,
        code: right.code,
        out: right.out,
        warnings: [says],
      })
      // The first page may have been read twice.
      expect(sent.slice(-right.sent.length)).toEqual(right.sent)
      expect(sent.length).toBeLessThanOrEqual(right.sent.length + 1)
      const undated = await run(line, skew, { isDated: false })
      expect(undated.warnings).toEqual([])
      expect(shifted(firstRange(undated.sent), skew)).toBe(firstRange(right.sent))
    }
  })
})

/** The methods of the library that take a time in the past. */
const methods = Object.entries(clientOperations).flatMap(([name, { params }]) =>
  Object.values(params).some(({ type }) => type === moment) ? [name] : [],
)

describe('the library counts from the clock of the service', () => {
  const call = async (name: string, skew: number, options: { readonly isDated?: boolean } = {}) => {
    const { clock, env, server } = await openService(skew, options)
    const notices: string[] = []
    const client = createHostClient(
      {
        baseUrl: env.MERGEQ_BASE_URL,
        token: env.MERGEQ_TOKEN ?? '',
        repo: 'acme/web',
        targetBranch: 'main',
        org: 'acme',
        onNotice: notice => notices.push(notice),
      },
      hostAt(clock),
    ) as unknown as Record<string, (options: object) => Promise<object>>
    const result = await client[name]?.({ since: '3h' })
    return { result, sent: sentTo(server), warnings: notices.filter(text => text.includes('clock')).length }
  }

  test.each(methods)('%s', async name => {
    const right = await call(name, 0)
    expect(right.warnings).toBe(0)
    for (const { skew } of skews) {
      const { result, sent, warnings } = await call(name, skew)
      expect({ result, warnings }).toEqual({ result: right.result, warnings: 1 })
      expect(sent.slice(-right.sent.length)).toEqual(right.sent)
      const undated = await call(name, skew, { isDated: false })
      expect(undated.warnings).toBe(0)
      expect(shifted(firstRange(undated.sent), skew)).toBe(firstRange(right.sent))
    }
  })
})
