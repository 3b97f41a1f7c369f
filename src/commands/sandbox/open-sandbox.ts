import type { CommandContext } from '../../cli/context.ts'
import { choiceOption, type InputValues, option, repeatableOption } from '../../cli/inputs.ts'
import { withoutTokens } from '../../config/git.ts'
import { defaultScenario, scenarioNames } from '../../domain/scenario-names.ts'
import { integerParser, parseDecimal } from '../../domain/values/numbers.ts'
import { parseRepository, repositoryName } from '../../domain/values/repository.ts'
import { textParser } from '../../domain/values/text.ts'
import { usageError } from '../../errors.ts'
import type { Environment } from '../../host/host.ts'
import { sanitizeLine } from '../../output/sanitize.ts'

/** Parses a decimal number above 0; throws a usage error otherwise. */
const parsePositive = (text: string): number => {
  const number = parseDecimal(text)
  if (number <= 0) throw usageError(`'${text}' is not a number greater than 0.`)
  return number
}

/** Parses `<repo>:<branch>`; throws a usage error otherwise. */
function parseQueueName(text: string) {
  const colon = text.lastIndexOf(':')
  if (colon < 1) throw usageError(`'${text}' is not <repo>:<branch>.`, 'For example: acme/web:release')
  return {
    repo: parseRepository(text.slice(0, colon)),
    targetBranch: textParser('branch')(text.slice(colon + 1)),
  }
}

/** The options of every command that starts a sandbox (docs/reference/sandbox.md, "Starting a sandbox"). */
export const sandboxOptions = {
  speed: option({
    name: 'speed',
    value: 'x',
    summary: 'Speed factor; at 1, a test run takes about two seconds',
    parse: parsePositive,
  }),
  seed: option({
    name: 'seed',
    value: 'n',
    summary: 'Seed for the generated data; the same seed gives the same data',
    parse: integerParser(0, 4_294_967_295),
  }),
  scenario: option({
    name: 'scenario',
    value: 'name|file',
    default: defaultScenario,
    summary: `What happens to pull requests: ${scenarioNames.join(', ')}, or a file`,
    suggestions: scenarioNames,
    file: true,
    parse: textParser('scenario'),
  }),
  dialect: choiceOption({
    name: 'dialect',
    value: 'document|hosted',
    summary: 'Behave as documented (document) or as the hosted service does (hosted)',
    choices: ['document', 'hosted'],
  }),
  queue: repeatableOption({
    name: 'queue',
    value: 'repo:branch',
    summary: 'Create an additional queue',
    parse: parseQueueName,
  }),
}

/** The option for the port of a sandbox. */
export const portOption = {
  port: option({
    name: 'port',
    value: 'n',
    defaultText: 'any free port',
    summary: 'Port to listen on',
    parse: integerParser(1, 65_535),
  }),
}

/**
 * Starts a sandbox on loopback. Returns the sandbox with the variables that it needs and the environment in
 * which commands reach it; that environment does not contain the real token. The caller must close the
 * sandbox.
 */
export async function openSandbox(
  values: InputValues<typeof sandboxOptions>,
  port: number | undefined,
  context: CommandContext,
) {
  const { startSandbox } = await import('../../sandbox/sandbox.ts')
  const { clock, env, files } = context.host
  const { queue: queues, ...sandboxValues } = values
  const sandbox = await startSandbox({
    ...sandboxValues,
    queues,
    port,
    now: () => clock.now(),
    readScenario: path => files.read(path),
  })
  const variables = {
    MERGEQ_BASE_URL: sandbox.baseUrl,
    MERGEQ_TOKEN: sandbox.token,
    MERGEQ_REPO: repositoryName(sandbox.repo),
    MERGEQ_TARGET_BRANCH: sandbox.targetBranch,
    MERGEQ_ORG: sandbox.org,
  }
  const environment: Environment = { ...withoutTokens(env), ...variables }
  return { ...sandbox, variables, environment }
}

/** Returns a sandbox as `--dry-run` describes it: the port, the scenario and the dialect. */
export const describeSandbox = (
  { scenario, dialect }: Pick<InputValues<typeof sandboxOptions>, 'scenario' | 'dialect'>,
  port?: number,
): string =>
  [
    `a sandbox on ${port === undefined ? 'a free loopback port' : `loopback port ${port}`}`,
    `scenario ${sanitizeLine(scenario)}`,
    ...(dialect === undefined ? [] : [`dialect ${dialect}`]),
  ].join(', ')
