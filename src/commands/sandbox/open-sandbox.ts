import { choiceOption, type InputValues, option, repeatableOption } from '../../cli/inputs.ts'
import { withoutTokens } from '../../config/git.ts'
import { defaultScenario, scenarioNames } from '../../domain/scenario-names.ts'
import { integerParser, parseDecimal } from '../../domain/values/numbers.ts'
import { parseRepository, repositoryName } from '../../domain/values/repository.ts'
import { textParser } from '../../domain/values/text.ts'
import { usageError } from '../../errors.ts'
import type { Environment, Host } from '../../host/host.ts'
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

/** The options of every command that starts a sandbox. */
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

/** The options of a sandbox that others can reach. */
export const serverOptions = {
  port: option({
    name: 'port',
    value: 'n',
    defaultText: 'any free port',
    summary: 'Port to listen on',
    parse: integerParser(1, 65_535),
  }),
  ...sandboxOptions,
}

/** Starts a sandbox on loopback. The caller must close it. */
async function openSandbox(
  { queue: queues, ...values }: InputValues<typeof sandboxOptions> & { readonly port?: number | undefined },
  { clock, env, files }: Host,
) {
  const { startSandbox } = await import('../../sandbox/sandbox.ts')
  const sandbox = await startSandbox({
    ...values,
    queues,
    now: () => clock.now(),
    readScenario: path => files.read(path),
  })
  /** The settings with which commands reach the sandbox. */
  const variables = {
    MERGEQ_BASE_URL: sandbox.baseUrl,
    MERGEQ_TOKEN: sandbox.token,
    MERGEQ_REPO: repositoryName(sandbox.repo),
    MERGEQ_TARGET_BRANCH: sandbox.targetBranch,
    MERGEQ_ORG: sandbox.org,
  }
  // The environment of commands does not contain the real token.
  const environment: Environment = { ...withoutTokens(env), ...variables }
  return { ...sandbox, variables, environment }
}

/** Starts a sandbox, does some work in it, and stops it. Returns the exit code of the work. */
export async function useSandbox(
  values: Parameters<typeof openSandbox>[0],
  host: Host,
  work: (sandbox: Awaited<ReturnType<typeof openSandbox>>) => Promise<number>,
): Promise<number> {
  const sandbox = await openSandbox(values, host)
  try {
    return await work(sandbox)
  } finally {
    await sandbox.close()
  }
}

/** Returns a sandbox as `--dry-run` describes it: the port, the scenario and the dialect. */
export const describeSandbox = ({ port, scenario, dialect }: InputValues<typeof serverOptions>): string =>
  [
    `a sandbox on ${port === undefined ? 'a free loopback port' : `loopback port ${port}`}`,
    `scenario ${sanitizeLine(scenario)}`,
    ...(dialect === undefined ? [] : [`dialect ${dialect}`]),
  ].join(', ')
