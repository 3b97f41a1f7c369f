import { MergeqError, toMergeqError } from '../../../base/errors.ts'
import { type OptionValues, option } from '../../../command/inputs.ts'
import { withoutTokens } from '../../../config/token-program.ts'
import type { Environment, Files, Host } from '../../../host/host.ts'
import type { Sandbox } from '../../../sandbox/sandbox.ts'
import { repositoryName } from '../../../values/repository.ts'
import { sandboxTypes } from '../../../values/sandbox.ts'
import { defaultScenario, sandboxToken, scenarioNames } from '../../../values/scenario-names.ts'
import { fileName, integer } from '../../../values/types.ts'

export const sandboxOptions = {
  speed: option(sandboxTypes.speed, 'Speed factor; at 1, a test run takes about two seconds'),
  seed: option(sandboxTypes.seed, 'Seed for the generated data; the same seed gives the same data'),
  scenario: option(sandboxTypes.scenario, `What happens to pull requests: ${scenarioNames.join(', ')}`, {
    default: defaultScenario,
  }),
  dialect: option(sandboxTypes.dialect, 'Spelling and operations: both, hosted or document'),
  queue: option(sandboxTypes.queues, 'Create an additional queue'),
  unknown: option(sandboxTypes.unknown, 'Answer 404 for this pull request'),
  tokenFile: option(fileName('file'), 'Write the token to this file'),
  closed: option(sandboxTypes.closed, 'Cancel this pull request as closed'),
}

/** The options of a sandbox that others can reach. */
export const serverOptions = {
  port: option(integer(1, 65_535), 'Port to listen on', { defaultText: 'any free port' }),
  ...sandboxOptions,
}

/** A sandbox with the variables that lead to it, and the environment of commands in it. */
interface OpenSandbox extends Sandbox {
  readonly variables: Readonly<Record<string, string>>
  readonly environment: Environment
}

/** Starts a sandbox, and closes it after some work. */
export async function useSandbox(
  {
    queue: queues,
    tokenFile,
    ...values
  }: OptionValues<typeof sandboxOptions> & {
    readonly port?: number | undefined
    readonly held?: readonly number[]
  },
  { clock, env, files }: Host,
  work: (sandbox: OpenSandbox) => Promise<number>,
): Promise<number> {
  const { startSandbox } = await import('../../../sandbox/sandbox.ts')
  const file = tokenFile === undefined ? undefined : files.absolute(tokenFile)
  if (file !== undefined) await writeToken(file, sandboxToken, files)
  const sandbox = await startSandbox({ ...values, queues, now: () => clock.now() })
  const settings = await files.createTemporary().catch(async error => {
    await sandbox.close()
    const reason = error instanceof Error ? error.message : String(error)
    throw new MergeqError('output', `No temporary directory could be created: ${reason}.`, {
      hint: 'Check that the directory for temporary files exists, and that you can write to it.',
    })
  })
  const stopped = new AbortController()
  if (file !== undefined) void rotateToken(file, sandbox.rotation, { clock, files }, stopped.signal)
  const variables = {
    MERGEQ_BASE_URL: sandbox.baseUrl,
    ...(file === undefined ? { MERGEQ_TOKEN: sandbox.token } : { MERGEQ_TOKEN_FILE: file }),
    MERGEQ_REPO: repositoryName(sandbox.repo),
    MERGEQ_TARGET_BRANCH: sandbox.targetBranch,
    MERGEQ_ORG: sandbox.org,
  }
  // The environment of commands does not contain the real token, and what they store is not the user's.
  const environment = {
    ...withoutTokens(env),
    ...variables,
    MERGEQ_CONFIG_DIR: settings.path,
    MERGEQ_PROFILE: undefined,
  }
  try {
    return await work({ ...sandbox, variables, environment })
  } finally {
    stopped.abort()
    await sandbox.close()
    await settings.remove()
  }
}

async function writeToken(file: string, token: string, files: Files): Promise<void> {
  await files.replace(file, `${token}\n`, 0o600).catch(error => {
    throw new MergeqError(
      'output',
      `The token could not be written to ${file}: ${toMergeqError(error).message}.`,
    )
  })
}

/** Writes the next token shortly before the first one is refused. */
async function rotateToken(
  file: string,
  rotation: Sandbox['rotation'],
  { clock, files }: Pick<Host, 'clock' | 'files'>,
  stopped: AbortSignal,
): Promise<void> {
  if (rotation === undefined) return
  try {
    await clock.sleep(rotation.after * 0.95, stopped)
    await writeToken(file, rotation.token, files)
  } catch {
    // The sandbox was stopped, or the file cannot be written any more: then the old token is refused.
  }
}

export const describeSandbox = ({ port, scenario, dialect }: OptionValues<typeof serverOptions>): string =>
  [
    `a sandbox on ${port === undefined ? 'a free loopback port' : `loopback port ${port}`}`,
    `scenario ${scenario}`,
    ...(dialect === undefined ? [] : [`dialect ${dialect}`]),
  ].join(', ')
