import type { CommandContext } from '../../cli/context.ts'
import { type InputValues, option, repeatableOption } from '../../cli/inputs.ts'
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
import { sanitizeLine } from '../../output/sanitize.ts'

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
export const playFields = {
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

export const portField = {
  port: option('--port <n>', 'Port to listen on (default: a free one)', integerParser(1, 65_535)),
}

/** Opens a sandbox on loopback, and says in which environment commands reach it: the real token is not in it. */
export async function open(
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

/** A sandbox as `--dry-run` names it: where it would listen, and what it would play. */
export const sandboxText = (
  {
    scenario = 'happy',
    dialect,
  }: { readonly scenario?: string | undefined; readonly dialect?: string | undefined },
  port?: number,
): string =>
  [
    `a sandbox on ${port === undefined ? 'a free port of loopback' : `port ${port} of loopback`}`,
    `scenario ${sanitizeLine(scenario)}`,
    ...(dialect === undefined ? [] : [`dialect ${dialect}`]),
  ].join(', ')
