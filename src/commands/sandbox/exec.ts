import { type CommandRunner, defineCommand } from '../../cli/command.ts'
import { type CommandContext, sandboxNote } from '../../cli/context.ts'
import { type Input, type InputValues, option, repeatableOption } from '../../cli/inputs.ts'
import { printPreview } from '../../cli/preview.ts'
import { defaultScenario, scenarioNames } from '../../domain/scenario-names.ts'
import {
  choiceParser,
  integerParser,
  parseDecimal,
  parseRepository,
  repositoryName,
  textParser,
} from '../../domain/values/parsers.ts'
import { usageError } from '../../errors.ts'
import type { Environment } from '../../host/host.ts'
import { stringifyJson } from '../../output/json-text.ts'
import { sanitizeLine } from '../../output/sanitize.ts'
import type { ScenarioReport } from '../../sandbox/scenario-report.ts'
import { sandboxText } from './preview.ts'

const positive = (word: string): number => {
  const number = parseDecimal(word)
  if (number <= 0) throw usageError(`'${word}' is not more than 0.`)
  return number
}

/** Reads `<repo>:<branch>`. */
function queueName(word: string) {
  const colon = word.lastIndexOf(':')
  if (colon < 1) throw usageError(`'${word}' is not <repo>:<branch>.`, 'For example acme/web:release.')
  return {
    repo: parseRepository(word.slice(0, colon)),
    targetBranch: textParser('branch')(word.slice(colon + 1)),
  }
}

/** The flags of a sandbox (DESIGN.md section 6). */
const playFields = {
  speed: option(
    '--speed <x>',
    'How many times faster than usual (at 1 a test run takes about two seconds)',
    positive,
  ),
  seed: option(
    '--seed <n>',
    'What its data is made from: the same seed gives the same data',
    integerParser(0, 4_294_967_295),
  ),
  scenario: option(
    '--scenario <name|file>',
    `How pull requests fare: ${scenarioNames.join(', ')}, or a file (default ${defaultScenario})`,
    textParser('scenario'),
    { suggestions: scenarioNames, file: true },
  ),
  dialect: option(
    '--dialect <document|hosted>',
    'How it answers: as the API document says, or as the hosted service does',
    choiceParser(['document', 'hosted']),
    {
      choices: ['document', 'hosted'],
    },
  ),
  queue: repeatableOption('--queue <repo:branch>', 'A further queue (repeatable)', queueName),
}
const portField = {
  port: option('--port <n>', 'Port to listen on (default: a free one)', integerParser(1, 65_535)),
}

/** Opens a sandbox on loopback, and says in which environment commands reach it: the real token is not in it. */
async function open(
  values: InputValues<typeof playFields>,
  port: number | undefined,
  context: CommandContext,
) {
  const { startSandbox } = await import('../../sandbox/sandbox.ts')
  const { clock, env, files } = context.host
  const { queue: queues, ...others } = values
  const sandbox = await startSandbox({
    ...others,
    queues,
    port,
    now: () => clock.now(),
    readScenario: path => files.read(path),
  })
  const { TRUNK_API_TOKEN: _, ...rest } = env
  const environment: Environment = {
    ...rest,
    MERGEQ_BASE_URL: sandbox.baseUrl,
    MERGEQ_TOKEN: sandbox.token,
    MERGEQ_REPO: repositoryName(sandbox.repo),
    MERGEQ_TARGET_BRANCH: sandbox.targetBranch,
    MERGEQ_ORG: sandbox.org,
  }
  return { ...sandbox, environment }
}

const start = defineCommand({
  command: 'sandbox start',
  summary: 'Serve a sandbox on loopback until it is stopped',
  output: 'one JSON line, {"baseUrl","token"}, once it serves',
  inputs: { ...portField, ...playFields },
  examples: [
    'mergeq sandbox start --port 8080 --scenario failure',
    'mergeq sandbox start --scenario mine.json',
  ],
  async run({ port, ...values }, context) {
    if (context.options.dryRun)
      return printPreview('sandbox start', `Would serve ${sandboxText(values, port)}.`, context)
    const sandbox = await open(values, port, context)
    const { interrupted, out } = context.host
    try {
      await out.write(`${stringifyJson({ baseUrl: sandbox.baseUrl, token: sandbox.token })}\n`)
      await new Promise((_, reject) => {
        if (interrupted.aborted) reject(interrupted.reason)
        interrupted.addEventListener('abort', () => reject(interrupted.reason), { once: true })
      })
      return 0
    } finally {
      await sandbox.close()
    }
  },
})

const commandLine: Input<readonly string[]> = {
  definitions: [{ syntax: '<command...>', summary: 'The command to run, after --' }],
  read: args => args.get('command') ?? [],
}

/** Says how a rehearsal went, in a line or two; nothing where no queue was rehearsed. */
async function report(
  { submitted, unseen, ...counts }: ScenarioReport,
  scenario: string | undefined,
  { logger }: CommandContext,
): Promise<void> {
  if (submitted === 0 && scenario === undefined) return
  const { merged, failed, cancelled, held, queued } = counts
  await logger.info(
    `mergeq: in the sandbox: ${merged} merged, ${failed} failed, ${cancelled} cancelled, ${held} held on the way, ${queued} still queued.`,
  )
  if (unseen.length > 0)
    await logger.info(
      `mergeq: your script never saw ${unseen.join(', or ')}, which the scenario ${scenario ?? defaultScenario} has.`,
    )
}

const exec = defineCommand({
  command: 'sandbox exec',
  summary: 'Run a command against a sandbox of its own, and pass its exit code on',
  propagatesExitCode: true,
  output: 'what the command prints',
  inputs: { ...portField, ...playFields, commandLine },
  examples: ["mergeq sandbox exec -- sh -c 'mergeq pr submit 7 && mergeq pr wait 7 --interval 1s'"],
  async run({ port, commandLine: [program = '', ...args], ...values }, context) {
    if (context.options.dryRun) {
      const would = `Would run ${[program, ...args].map(sanitizeLine).join(' ')} against ${sandboxText(values, port)}.`
      return printPreview('sandbox exec', would, context)
    }
    const sandbox = await open(values, port, context)
    const { interrupted, spawn } = context.host
    try {
      const { code } = await spawn(program, args, {
        env: sandbox.environment,
        output: 'inherit',
        until: interrupted,
      })
      if (interrupted.aborted) throw interrupted.reason
      if (code === 127)
        throw usageError(`the command ${sanitizeLine(program)} could not be found.`, 'Is it on the PATH?')
      await report(sandbox.report(), values.scenario, context)
      return code
    } finally {
      await sandbox.close()
    }
  },
})

interface Step {
  readonly why: string
  readonly line: string
  readonly keep?: string
}

/** A step as the tour shows it: why, and the command line. */
const stepText = ({ why, line, keep }: Step): string =>
  `${why === '' ? '' : `# ${why}\n`}$ mergeq ${line}${keep === undefined ? '' : ` | grep '${keep}'`}\n`

/** What a newcomer would do, in order: `| grep` keeps the lines that hold a word. */
const tourSteps: readonly Step[] = [
  {
    why: 'Create a merge queue for the branch release.',
    line: 'queue create --target-branch release',
  },
  { why: 'Submit two pull requests.', line: 'pr submit 101 102 --priority high' },
  {
    why: 'Wait until the first has merged: the exit code tells how it ended.',
    line: 'pr wait 101 --interval 1s',
  },
  { why: 'What is in the queue now?', line: 'queue get' },
  { why: 'Wait for the second, and see where both stand.', line: 'pr wait 102 --interval 1s' },
  { why: '', line: 'pr get 101 102' },
  { why: 'The same for a script.', line: 'pr get 101 --json' },
  {
    why: 'Which tests failed today, worst first?',
    line: 'flaky list --since 24h --sort impact --limit 5 --fields name,failure_rate_last_7d,codeowners',
  },
  {
    why: 'And what does the queue measure?',
    line: 'metrics',
    keep: '_total{repo="acme/web",branch="release",queue_type="main"',
  },
]

const tour = defineCommand({
  command: 'sandbox tour',
  summary: 'See the main job done: from a new queue to a merge, failing tests and metrics',
  output: 'each command, and what it printed',
  inputs: playFields,
  examples: ['mergeq sandbox tour', 'mergeq sandbox tour --speed 4'],
  async run(values, context, runner: CommandRunner) {
    const { err, out } = context.host
    if (context.options.dryRun) {
      for (const step of tourSteps) await out.write(stepText(step))
      return 0
    }
    const sandbox = await open(values, undefined, context)
    const toured = { ...sandbox.environment, MERGEQ_TARGET_BRANCH: 'release' }
    try {
      for (const step of tourSteps) {
        const { line, keep } = step
        await out.write(stepText(step))
        const code = await runner(line.split(' '), toured, {
          terminal: out.terminal && keep === undefined,
          out: text => out.write(keep === undefined ? text : linesWith(keep, text)),
          // Said once for the whole tour, at its end.
          err: async text => (text === `${sandboxNote}\n` ? undefined : err.write(text)),
        })
        await out.write('\n')
        if (code !== 0) return code
      }
      await out.write(
        'That was a sandbox: nothing in it was real. For the real thing set MERGEQ_TOKEN, and see `mergeq --help`.\n',
      )
      return 0
    } finally {
      await sandbox.close()
    }
  },
})

function linesWith(word: string, text: string | Uint8Array): string {
  const whole = typeof text === 'string' ? text : new TextDecoder().decode(text)
  const kept = whole.split('\n').filter(line => line.includes(word))
  return kept.map(line => `${line}\n`).join('')
}

export const sandboxCommands = [start, exec, tour]
