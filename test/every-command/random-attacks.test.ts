import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MergeqError } from '../../src/base/errors.ts'
import { anyCharacter } from '../support/any-character.ts'
import { askingFiles, askingLines } from '../support/asking-commands.ts'
import { allCommands, formatFlags } from '../support/commands.ts'
import { type Answer, mergeq, noon, type Outcome, queueEnv, type Setting } from '../support/harness.ts'
import { changeExamples, operationExamples, testId } from '../support/operations.ts'

/** How many runs each attack has; `npm run attack` has more of them. */
const runs = Number(process.env.MERGEQ_RANDOM_ATTACKS ?? 150)

/** Sleeps after which a run is ended by a signal: a watch has no other end. */
const maxSleeps = 100

/** Runs a command line with a clock that does not wait. */
async function run(
  line: readonly string[],
  answer: NonNullable<Setting['answer']>,
  setting: Setting = {},
): Promise<Outcome> {
  const controller = new AbortController()
  let sleeps = 0
  const clock = {
    now: noon,
    async sleep(ms: number) {
      clock.now += ms
      if (++sleeps > maxSleeps)
        controller.abort(new MergeqError('interrupted', 'stopped by SIGINT.', { exit: 130 }))
    },
  }
  const files = askingFiles
  return mergeq(line, { env: queueEnv, answer, clock, files, signal: controller.signal, ...setting })
}

/** The paths of requests that change something. */
const changePaths = changeExamples.map(({ name }) => `/v1/${name}`)

/** What holds for every run, whatever was typed and answered. */
function checkOutcome({ code, out, err, requests }: Outcome, line: readonly string[]): void {
  expect(code, `${line.join(' ')}\n${out}\n${err}`).not.toBe(1)
  expect(out + err).not.toMatch(/\b(?:undefined|NaN|\[object Object\])\b|^ +at \S+ \(/m)
  const changes = requests.filter(({ path }) => changePaths.includes(path))
  if (code === 2) expect(changes).toEqual([])
  for (const { headers } of requests) expect(['test-token', undefined]).toContain(headers['x-api-token'])
}

// Without those that start servers or other programs, and without those that change files.
const commands = allCommands.filter(
  ({ command }) => !/^(?:sandbox|auth|config|guard|completion)\b/.test(command),
)

const words = [
  ...commands.map(({ command }) => command.split(' ')),
  ...new Set(commands.flatMap(({ definitions }) => definitions.map(({ name }) => [name]))),
  ...[
    ...['7', '#8', '0', '-1', 'main', '-', '--', '', '日本', 'a b', '--=', '-qv', '-o', '1h', '30d'],
    ...['--json', '--dry-run', '--yes', '-o=csv', '--fields=a,b', '--set=a.b=1', '--limit=2', '--wait'],
    ...[testId, 'https://github.com/acme/web/pull/7', 'https://', '{"a":1}', 'a=b', '\u202E', '\0'],
  ].map(word => [word]),
]

test('no command line ends with an error of mergeq itself', async () => {
  const line = fc
    .tuple(
      fc.constantFrom(...commands.map(({ command }) => command.split(' '))),
      fc.array(
        fc.oneof(
          fc.constantFrom(...words),
          fc.string().map(word => [word]),
        ),
        { maxLength: 5 },
      ),
    )
    .map(([command, more]) => [...command, ...more.flat()])
  await fc.assert(
    fc.asyncProperty(line, async argv => {
      checkOutcome(await run(argv, () => ({ body: '{}' })), argv)
    }),
    { numRuns: runs },
  )
})

const responses = new Map<string, unknown>(operationExamples.map(({ name, response }) => [name, response]))
/** Replaces the value at a random place of a document. */
function replaceSomewhere(document: unknown, path: readonly number[], value: unknown): unknown {
  const [first, ...rest] = path
  if (first === undefined || typeof document !== 'object' || document === null) return value
  const keys = Object.keys(document)
  const key = keys[first % Math.max(1, keys.length)]
  if (key === undefined) return value
  const changed = replaceSomewhere((document as Record<string, unknown>)[key], rest, value)
  return Array.isArray(document)
    ? document.map((item, index) => (String(index) === key ? changed : item))
    : { ...document, [key]: changed }
}

type Damage = (operation: string) => Answer

const answers: fc.Arbitrary<Damage> = fc.oneof(
  fc.tuple(fc.array(fc.nat(20), { minLength: 1, maxLength: 4 }), fc.jsonValue()).map(
    ([path, value]): Damage =>
      operation => ({ body: JSON.stringify(replaceSomewhere(responses.get(operation), path, value)) }),
  ),
  fc.jsonValue().map(
    (value): Damage =>
      () => ({ body: JSON.stringify(value) }),
  ),
  fc.string({ unit: anyCharacter }).map(
    (body): Damage =>
      () => ({ body }),
  ),
  fc.nat(200).map(
    (length): Damage =>
      operation => {
        const response = responses.get(operation)
        return {
          body: (typeof response === 'string' ? response : JSON.stringify(response ?? {})).slice(0, length),
        }
      },
  ),
  fc
    .tuple(
      fc.constantFrom(200, 204, 299, 302, 400, 401, 403, 404, 408, 409, 413, 418, 429, 500, 503),
      fc.string(),
    )
    .map(
      ([status, body]): Damage =>
        () => ({ status, body }),
    ),
)

const lines = [
  ...commands.flatMap(({ command }) => {
    const words = askingLines[command]
    return words === undefined ? [] : [`${command} ${words}`.trim()]
  }),
  ...['pr get 7', 'pr submit 7', 'pr testing --pr 7', 'flaky unhealthy --status flaky', 'api status'],
]
/** The commands that print a row for each record. */
const lists = /^(?:pr list|pr get 7 8|queue get|queue list|flaky (?:list|quarantined|unhealthy))/

/** The commands that print a document for each pull request, which on a terminal has several lines. */
const severalDocuments = / 7 8\b|--cancel-all/

/** How the cells of a row are read back, by format. */
const cellsOf: Readonly<Record<string, (row: string) => readonly string[]>> = {
  '': row => row.split('\t'),
  '-o markdown': row => row.split(/(?<!\\)\|/),
}

const formats = [...formatFlags, '--fields state,name']

test('no response ends a command with an error of mergeq itself', async () => {
  const commandLine = fc.tuple(fc.constantFrom(...lines), fc.constantFrom(...formats), fc.boolean())
  await fc.assert(
    fc.asyncProperty(
      commandLine,
      fc.array(answers, { minLength: 1, maxLength: 3 }),
      async (typed, damages) => {
        const [command, format, terminal] = typed
        const line = `${command} ${format}`.trim().split(' ')
        const outcome = await run(
          line,
          ({ path }, index) => damages[index % damages.length]?.(path.replace(/^\/v1\/|\?.*$/g, '')) ?? {},
          { terminal },
        )
        checkOutcome(outcome, line)
        const cells = terminal || outcome.code !== 0 || !lists.test(command) ? undefined : cellsOf[format]
        if (cells !== undefined) {
          const widths = outcome.out
            .split('\n')
            .slice(0, -1)
            .map(row => cells(row).length)
          expect(new Set(widths).size, outcome.out).toBeLessThanOrEqual(1)
        }
        if (format === '-o json' && outcome.code === 0 && outcome.out !== '' && !command.startsWith('api'))
          for (const text of terminal ? [outcome.out] : outcome.out.trimEnd().split('\n'))
            expect(() =>
              terminal && severalDocuments.test(command) ? undefined : JSON.parse(text),
            ).not.toThrow()
      },
    ),
    { numRuns: runs },
  )
})
