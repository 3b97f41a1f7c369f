import { callOperation } from '../../api/call.ts'
import { readServiceStatus, type ServiceStatus } from '../../api/extra-reads.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { withMaxRetries } from '../../api/service-client.ts'
import type { CommandContext } from '../../cli/context.ts'
import { isContinuousIntegration } from '../../config/ci-systems.ts'
import { readGitVersion } from '../../config/git.ts'
import { isLoopback, type SettingKey } from '../../config/setting-definitions.ts'
import type { AccessProblem } from '../../config/store.ts'
import { memoize } from '../../domain/memoize.ts'
import { shellWord } from '../../domain/suggested-command.ts'
import { isNotFound, type MergeqError, toMergeqError } from '../../errors.ts'
import { parseUrl } from '../../url.ts'

interface CheckOutcome {
  readonly result: 'pass' | 'warn' | 'fail' | 'skip'
  /** What the check found or, for a skipped check, why it did not run. */
  readonly found: string
  /** What to do about a problem; a command to copy is at the end of its line. */
  readonly fix?: string
  /** Whether checks that need this one can run although it failed or was skipped. */
  readonly isUsable?: boolean
}

interface CheckSession {
  readonly context: CommandContext
  /** Reads the metrics once, however many checks ask for it. */
  probe(): Promise<ServiceProbe>
  /** Reads the status of the service once, without a token. */
  status(): Promise<ServiceStatus>
}

interface Check {
  /** The name, such as `base URL`. */
  readonly check: string
  /** What the check looks at, for people. */
  readonly description: string
  /** The names of earlier checks without which this check is skipped. */
  readonly needs?: readonly string[]
  run(session: CheckSession): CheckOutcome | Promise<CheckOutcome>
}

export interface CheckReport extends CheckOutcome {
  readonly check: string
}

const pass = (found: string): CheckOutcome => ({ result: 'pass', found })

/** A problem that stops only some commands, or none. */
const warn = (found: string, fix: string): CheckOutcome => ({ result: 'warn', found, fix })

/** The outcome of a check that found nothing out; checks that need it can run. */
const skip = (reason: string): CheckOutcome => ({
  result: 'skip',
  found: `skipped: ${reason}`,
  isUsable: true,
})

/** The outcome of a check that found an error: its message, and its hint as the fix. */
function errorOutcome(result: 'warn' | 'fail', error: unknown): CheckOutcome {
  const { message, details } = toMergeqError(error)
  return { result, found: message, fix: details.hint ?? '' }
}

/** A check that passes with what it finds, or fails with the error that it throws. */
const failing =
  (run: (context: CommandContext) => Promise<string>): Check['run'] =>
  ({ context }) =>
    run(context).then(pass, error => errorOutcome('fail', error))

/** The oldest supported version of Node. */
const minNodeVersion = [20, 18, 1] as const

const isSupportedNode = (version: string): boolean => {
  const parts = version.split('.').map(Number)
  const index = minNodeVersion.findIndex((part, position) => (parts[position] ?? 0) !== part)
  return index < 0 || (parts[index] ?? 0) > (minNodeVersion[index] ?? 0)
}

function checkVersions({ context: { host } }: CheckSession): CheckOutcome {
  const found = `mergeq ${host.runtime.version}, Node ${host.runtime.node}, ${host.runtime.platform}`
  return isSupportedNode(host.runtime.node)
    ? pass(found)
    : warn(found, `Use Node ${minNodeVersion.join('.')} or later: https://nodejs.org/en/download`)
}

/** Checks that the settings can be read, and that no other user owns the files or can access them. */
async function checkSettings({ context: { settings } }: CheckSession): Promise<CheckOutcome> {
  const { path } = settings.store
  if (path === undefined)
    return warn('no configuration directory', 'Set HOME, or run: export MERGEQ_CONFIG_DIR=<directory>')
  await settings.store.read().catch(() => undefined)
  const storeError = settings.store.readError()
  if (storeError !== undefined) return errorOutcome('fail', storeError)
  const problems = await settings.store.accessProblems()
  if (problems.length === 0) return pass(path)
  return {
    result: problems.every(({ kind }) => kind === 'place') ? 'warn' : 'fail',
    found: problems.map(problem => `${problem.path} ${problem.description}`).join('; '),
    fix: [...new Set(problems.map(fixAccess))].join('; '),
    // The permissions do not affect the connection, so that the service is still checked.
    isUsable: true,
  }
}

function fixAccess({ kind, path }: AccessProblem): string {
  if (kind === 'place') return 'Set MERGEQ_CONFIG_DIR to a directory in your user profile, or unset it.'
  if (kind === 'file') return `chmod 600 ${shellWord(path)}`
  if (kind === 'folder') return `chmod go-w ${shellWord(path)}`
  return 'Run mergeq as that user, change the owner with chown, or set MERGEQ_CONFIG_DIR to a directory that you own.'
}

async function describeProxy({ host, settings }: CommandContext): Promise<string> {
  const { bypassesProxy, proxyFromEnvironment } = await import('../../http/http-client.ts')
  const proxy = proxyFromEnvironment(host.env)
  if (proxy === undefined) return 'none'
  const name = ['https_proxy', 'HTTPS_PROXY'].find(variable => (host.env[variable] ?? '') !== '')
  const baseUrl = await settings.require('baseUrl').catch(() => '')
  const url = parseUrl(baseUrl)
  const isUnused = url !== undefined && (isLoopback(url.hostname) || bypassesProxy(url, host.env))
  return `${proxy.host} (${name})${isUnused ? `, not used for ${url.hostname}` : ''}`
}

/** What one request to the service showed. */
interface ServiceProbe {
  /** When the request was sent and when it ended, in milliseconds since 1970. */
  readonly sentAt: number
  readonly endedAt: number
  /** The time of the response by the service's clock, in milliseconds since 1970. */
  readonly date?: number | undefined
  /** Why the request failed; undefined for a response with a status of 2xx. */
  readonly error?: MergeqError
}

/**
 * Reads the metrics once, without retries: a read that needs a token and no repository. Throws only the error
 * of a signal.
 */
async function probeService(context: CommandContext): Promise<ServiceProbe> {
  const { clock } = context.host
  const sentAt = clock.now()
  try {
    const client = context.client()
    const limits = withMaxRetries(client, 0)
    const { date } = await callOperation(client, getMergeQueueMetrics, {}, { limits })
    return { sentAt, endedAt: clock.now(), date }
  } catch (caught) {
    const error = toMergeqError(caught)
    if (error.kind === 'interrupted') throw error
    return { sentAt, endedAt: clock.now(), error }
  }
}

/** Whether a request reached the service, whatever the service answered. */
const isReached = (error: MergeqError | undefined): boolean =>
  error === undefined || error.details.status !== undefined || error.details.sentState === 'ambiguous'

/**
 * Returns the error of a request to the service; undefined for a request that succeeded. The request for the
 * status needs no token: it decides where the request for the metrics shows nothing about the connection.
 */
async function connectionError({ probe, status }: CheckSession): Promise<MergeqError | undefined> {
  const { error } = await probe()
  if (isReached(error) || error?.details.failedStep !== undefined) return error
  const read = await status()
  return read.kind === 'unknown' ? read.failure : undefined
}

const readBaseUrl = async ({ context: { settings } }: CheckSession): Promise<URL> =>
  new URL(await settings.require('baseUrl'))

async function checkDns(session: CheckSession): Promise<CheckOutcome> {
  const { hostname } = await readBaseUrl(session)
  const error = await connectionError(session)
  const step = error?.details.failedStep
  if (/^[\d.]+$|^\[/.test(hostname)) return pass(`${hostname} is an IP address`)
  if (step === 'dns') return errorOutcome('fail', error)
  if (isReached(error) || step === 'connection' || step === 'tls') return pass(`${hostname} was resolved`)
  return skip(`no connection to ${hostname}`)
}

async function checkTls(session: CheckSession): Promise<CheckOutcome> {
  const { protocol, hostname } = await readBaseUrl(session)
  const error = await connectionError(session)
  if (error?.details.failedStep === 'tls') return errorOutcome('fail', error)
  if (protocol === 'http:') return pass('not used: the base URL is http')
  return isReached(error)
    ? pass(`the certificate of ${hostname} is trusted`)
    : skip(`no connection to ${hostname}`)
}

async function checkService({ probe }: CheckSession): Promise<CheckOutcome> {
  const { error, sentAt, endedAt } = await probe()
  return error === undefined
    ? pass(`responded in ${endedAt - sentAt} ms and accepted the token`)
    : errorOutcome('fail', error)
}

/** The largest clock difference in milliseconds that does not distort time ranges. */
const maxClockSkew = 60_000

const clockCommands: Readonly<Record<string, string>> = {
  linux: 'sudo timedatectl set-ntp true',
  darwin: 'sudo sntp -sS time.apple.com',
  win32: 'w32tm /resync',
}

async function checkClock({ probe, context }: CheckSession): Promise<CheckOutcome> {
  const { date, sentAt, endedAt } = await probe()
  if (date === undefined)
    return warn('the response has no date', 'Compare the clock of this machine with another clock.')
  const offset = date - (sentAt + endedAt) / 2
  const found = `${Math.abs(Math.round(offset / 1_000))}s ${offset < 0 ? 'ahead of' : 'behind'} the service`
  if (Math.abs(offset) <= maxClockSkew) return pass(found)
  const command = clockCommands[context.host.runtime.platform]
  const advice = 'Set the clock of this machine: time ranges depend on it.'
  return warn(found, command === undefined ? advice : `${advice} Run: ${command}`)
}

async function checkStatus({ status }: CheckSession): Promise<CheckOutcome> {
  const read = await status()
  if (read.kind === 'operational') return pass('operational')
  if (read.kind === 'outage') return warn(read.text, 'If commands fail, try again later.')
  return isNotFound(read.failure) ? pass('the service publishes no status') : skip(read.failure.message)
}

async function checkGit({ context: { host } }: CheckSession): Promise<CheckOutcome> {
  const version = await readGitVersion(host)
  return version === undefined
    ? warn(
        'git cannot be run',
        'Install git (https://git-scm.com/downloads), or use --repo and --target-branch.',
      )
    : pass(version)
}

/** Checks that a setting has a valid value; a missing or wrong one is a warning. */
async function checkSetting(
  name: SettingKey,
  fix: string,
  { context: { settings } }: CheckSession,
): Promise<CheckOutcome> {
  try {
    const found = await settings.find(name)
    await settings.read(name)
    return found === undefined ? warn('none', fix) : pass(`${found.value} (${found.origin})`)
  } catch (error) {
    return errorOutcome('warn', error)
  }
}

/** Checks the organization slug; without one the check is skipped, because most commands need none. */
async function checkOrganization(session: CheckSession): Promise<CheckOutcome> {
  const fix = 'mergeq config set org <slug>'
  const outcome = await checkSetting('org', fix, session)
  return outcome.found === 'none' ? { ...skip('needed only for flaky commands'), fix } : outcome
}

/** All checks, in their order: the setup, the service, then the directory and the machine. */
export const checks: readonly Check[] = [
  { check: 'versions', description: 'versions of mergeq and Node, and the platform', run: checkVersions },
  { check: 'settings', description: 'the settings file and its permissions', run: checkSettings },
  {
    check: 'base URL',
    description: 'the base URL of the service',
    run: failing(({ settings }) => settings.require('baseUrl')),
  },
  { check: 'proxy', description: 'the proxy environment variables', run: failing(describeProxy) },
  {
    check: 'token',
    description: 'the API token and its source',
    needs: ['base URL'],
    run: failing(async context => (await context.client().token()).source),
  },
  {
    check: 'DNS',
    description: 'whether the host name of the base URL can be resolved',
    needs: ['settings', 'base URL', 'proxy'],
    run: checkDns,
  },
  {
    check: 'TLS',
    description: 'whether the certificate of the service is trusted',
    needs: ['DNS'],
    run: checkTls,
  },
  {
    check: 'service',
    description: 'one request for the metrics: connection and token',
    needs: ['token', 'DNS', 'TLS'],
    run: checkService,
  },
  {
    check: 'clock',
    description: "this machine's clock compared with the service's",
    needs: ['service'],
    run: checkClock,
  },
  {
    check: 'service status',
    description: 'the status that the service publishes, if any',
    needs: ['TLS'],
    run: checkStatus,
  },
  { check: 'git', description: 'git --version', run: checkGit },
  {
    check: 'CI',
    description: 'whether this is a CI job',
    run: ({ context: { host } }) =>
      pass(isContinuousIntegration(host.env) ? 'CI job: no prompts' : 'not a CI job'),
  },
  {
    check: 'repository',
    description: 'the repository that commands use in this directory',
    run: session =>
      checkSetting('repo', 'Use --repo owner/name, or run: mergeq config set repo owner/name', session),
  },
  {
    check: 'target branch',
    description: 'the target branch that commands use in this directory',
    run: session =>
      checkSetting(
        'targetBranch',
        'Use --target-branch <branch>, or run: mergeq config set target-branch <branch>',
        session,
      ),
  },
  {
    check: 'organization',
    description: 'the organization slug, which the flaky commands need',
    run: checkOrganization,
  },
]

/** Runs all checks. A check whose needs are not met is skipped. */
export async function runChecks(context: CommandContext): Promise<readonly CheckReport[]> {
  const session: CheckSession = {
    context,
    probe: memoize(() => probeService(context)),
    status: memoize(() => readServiceStatus(context.client())),
  }
  const reports: CheckReport[] = []
  for (const { check, needs = [], run } of checks) {
    const missing = reports.find(
      ({ check, result, isUsable }) =>
        needs.includes(check) && (result === 'fail' || result === 'skip') && isUsable !== true,
    )
    reports.push({ check, ...(missing === undefined ? await run(session) : skipBecauseOf(missing)) })
  }
  return reports
}

const skipBecauseOf = ({ check, result, found }: CheckReport): CheckOutcome => ({
  result: 'skip',
  found: result === 'skip' ? found : `skipped: the ${check} check failed`,
})
