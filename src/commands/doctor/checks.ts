import { callOperation, readIfFound } from '../../api/call.ts'
import { getMergeQueueMetrics, getServiceStatus, readSamplesIn } from '../../api/operations/metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { failingTestsPage } from '../../api/operations/tests.ts'
import type { ServiceClient } from '../../api/service-client.ts'
import { compareClocks } from '../../api/service-time.ts'
import { failureOrThrow, isNotFound, type MergeqError } from '../../base/errors.ts'
import { getString } from '../../base/json.ts'
import { isLoopback, parseUrl } from '../../base/url.ts'
import type { Cli } from '../../command/command.ts'
import { describeCiSystem, isContinuousIntegration } from '../../config/ci-systems.ts'
import { explainBrokenGit, readGitVersion } from '../../config/git.ts'
import type { SettingKey } from '../../config/setting-definitions.ts'
import { restrictCommand } from '../../config/store.ts'
import { summarizeMetrics } from '../../domain/metrics/last-hour.ts'
import { summarizeQueue } from '../../domain/queue-entries.ts'
import { formatRounded, joinTruncated, pluralize } from '../../values/format.ts'
import { describeMissingQueue, shortRepositoryName } from '../../values/repository.ts'

export interface Verdict {
  readonly result: 'pass' | 'none' | 'warn' | 'fail' | 'skip'
  /** What the check found or, for a skipped check, why it did not run. */
  readonly found: string
  /** What to do about a problem; a command to copy is at the end of its line. */
  readonly fix?: string
  /** Whether checks that need this one can run although it failed or was skipped. */
  readonly isUsable?: boolean
}

/** What a command uses, and what several checks ask the service for once. */
export interface Session extends Cli {
  probe(): Promise<ServiceProbe>
  /** Returns what the service says of an outage; undefined if there is none. */
  outage(): Promise<string | undefined>
}

export interface Check {
  readonly check: string
  /** The names of earlier checks without which this check is skipped. */
  readonly needs?: readonly string[]
  /** Returns what it finds; an error that it throws is a failure. */
  run(session: Session): Verdict | Promise<Verdict>
}

const pass = (found: string): Verdict => ({ result: 'pass', found })

/** The outcome of a check whose value not every directory has. */
const nothing: Verdict = { result: 'none', found: 'none' }

/** A problem that stops only some commands, or none. */
const warn = (found: string, fix: string): Verdict => ({ result: 'warn', found, fix })

/** The outcome of a check of a setting that most commands need. */
const notSet = (option: string): Verdict => warn('none', `Use ${option}, or store it with config set.`)

/** The outcome of a check that found nothing out; checks that need it can run. */
const skip = (reason: string): Verdict => ({ result: 'skip', found: `skipped: ${reason}`, isUsable: true })

const minNodeVersion = '20.18.1'

function checkVersions({ host: { runtime } }: Session): Verdict {
  const found = `mergeq ${runtime.version}, Node ${runtime.node}, ${runtime.platform}`
  return runtime.node.localeCompare(minNodeVersion, 'en', { numeric: true }) >= 0
    ? pass(found)
    : warn(found, `Use Node ${minNodeVersion} or later: https://nodejs.org/en/download`)
}

/** Checks that the settings can be read, and only by this user. */
async function checkSettings({ settings }: Session): Promise<Verdict> {
  const { store } = settings
  if (store.path === undefined)
    return warn('no configuration directory', 'Set HOME, or run: export MERGEQ_CONFIG_DIR=<directory>')
  const error = await settings.checkStore()
  if (error !== undefined) return warn(error.message, error.details.hint ?? '')
  const mode = await store.takeSharedMode()
  const machine = await store.readMachine()
  if (mode === undefined) return pass(machine === undefined ? store.path : `${store.path}, ${machine.path}`)
  return warn(`${store.path} is readable by other users (mode ${mode})`, restrictCommand(store))
}

async function checkProxy({ host: { env }, settings }: Session): Promise<Verdict> {
  const { bypassesProxy, proxyFromEnvironment, proxyVariable } = await import('../../http/http-client.ts')
  const url = parseUrl(await settings.require('baseUrl').catch(() => ''))
  const isUnused = url !== undefined && (isLoopback(url.hostname) || bypassesProxy(url, env))
  try {
    const proxy = proxyFromEnvironment(env)
    if (proxy === undefined) return pass('none')
    return pass(`${proxy.host} (${proxyVariable(env)})${isUnused ? `, not used for ${url.hostname}` : ''}`)
  } catch (error) {
    const { message, details } = failureOrThrow(error)
    // A service that is reached without the proxy can be checked.
    return { result: 'fail', found: message, fix: details.hint ?? '', isUsable: isUnused }
  }
}

interface ServiceProbe {
  /** When the request was sent and when it ended, in milliseconds since 1970. */
  readonly sentAt: number
  readonly endedAt: number
  /** The time of the response by the service's clock, in milliseconds since 1970. */
  readonly date?: number | undefined
  readonly metrics?: Uint8Array
  /** Why the request failed; undefined for a response with a status of 2xx. */
  readonly error?: MergeqError
}

/** Reads the metrics once: a read that needs a token and no repository. Throws only the error of a signal. */
export async function probeService(cli: Cli): Promise<ServiceProbe> {
  const { clock } = cli.host
  const sentAt = clock.now()
  try {
    const client = cli.client()
    const limits = { maxRetries: 0 }
    const { date, response } = await callOperation(client, getMergeQueueMetrics, {}, { limits })
    return { sentAt, endedAt: clock.now(), date, metrics: response.bytes }
  } catch (error) {
    return { sentAt, endedAt: clock.now(), error: failureOrThrow(error) }
  }
}

/** Whether a request reached the service, whatever the service answered. */
const isReached = (error: MergeqError | undefined): boolean =>
  error === undefined || error.details.status !== undefined || error.details.sentState === 'ambiguous'

/** Returns why the service is not reached; its status, which needs no token, decides where the metrics do not. */
async function connectionError({ probe, outage }: Session): Promise<MergeqError | undefined> {
  const { error } = await probe()
  if (isReached(error) || error?.details.failedStep !== undefined) return error
  return outage().then(() => undefined, failureOrThrow)
}

const readBaseUrl = async ({ settings }: Session): Promise<URL> => new URL(await settings.require('baseUrl'))

async function checkDns(session: Session): Promise<Verdict> {
  const { hostname } = await readBaseUrl(session)
  const error = await connectionError(session)
  const step = error?.details.failedStep
  if (/^[\d.]+$|^\[/.test(hostname)) return pass(`${hostname} is an IP address`)
  if (step === 'dns') throw error
  if (isReached(error) || step === 'connection' || step === 'tls') return pass(`${hostname} was resolved`)
  return skip(`no connection to ${hostname}`)
}

async function checkTls(session: Session): Promise<Verdict> {
  const { protocol, hostname } = await readBaseUrl(session)
  const error = await connectionError(session)
  if (error?.details.failedStep === 'tls') throw error
  if (protocol === 'http:') return pass('not used: the base URL is http')
  return isReached(error)
    ? pass(`the certificate of ${hostname} is trusted`)
    : skip(`no connection to ${hostname}`)
}

async function checkService({ probe }: Session): Promise<Verdict> {
  const { error, sentAt, endedAt } = await probe()
  if (error !== undefined) throw error
  return pass(`responded in ${endedAt - sentAt} ms and accepted the token`)
}

/** Checks that there is a token, and that the service does not reject it, as far as it can be reached. */
async function checkToken({ client, probe }: Session): Promise<Verdict> {
  const { source } = await client().token()
  const { error } = await probe()
  if (error?.kind === 'auth') throw error
  return pass(source)
}

const day = 86_400_000

const ageText = (difference: number): string =>
  difference < day ? formatRounded(difference) : pluralize(Math.round(difference / day), 'day')

async function checkClock({ probe }: Session): Promise<Verdict> {
  const { date, sentAt, endedAt } = await probe()
  if (date === undefined)
    return warn('the response has no date', 'Compare the clock of this machine with another clock.')
  const { difference, isFar } = compareClocks(date, sentAt, endedAt)
  const size = Math.abs(difference)
  const text = isFar ? ageText(size) : `${Math.round(size / 1_000)}s`
  const found = `${text} ${difference < 0 ? 'ahead of' : 'behind'} the service`
  return isFar ? warn(found, 'Set the clock of this machine: time ranges depend on it.') : pass(found)
}

/** The time limit for the status, in milliseconds: it is only additional information. */
const statusTimeout = 3_000

/** Sends one request without a token, for at most 3 seconds. */
export async function readOutage(client: ServiceClient): Promise<string | undefined> {
  const limits = { maxRetries: 0, timeout: () => statusTimeout }
  const { response } = await callOperation(client, getServiceStatus, {}, { limits })
  const [record = {}] = response.records
  const type = getString(record, 'overallStatus.type') ?? 'up'
  return type === 'up' ? undefined : (getString(record, 'overallStatus.overallStatusDescription') ?? type)
}

async function checkStatus({ outage }: Session): Promise<Verdict> {
  try {
    const text = await outage()
    return text === undefined ? pass('operational') : warn(text, 'If commands fail, try again later.')
  } catch (error) {
    const failure = failureOrThrow(error)
    return isNotFound(failure) ? pass('the service publishes no status') : skip(failure.message)
  }
}

function checkCi({ host: { env } }: Session): Verdict {
  if (!isContinuousIntegration(env)) return pass('not a CI job')
  const system = describeCiSystem(env)
  const name = system === undefined ? 'CI job' : `${system.value} (${system.origin})`
  return pass(`${name}: no prompts`)
}

/** Checks that git can read the checkout; if not, that is a failure where a setting is missing because of it. */
async function checkGit({ host, settings }: Session): Promise<Verdict> {
  const version = await readGitVersion(host)
  const failure = version === undefined ? 'git cannot be run' : await explainBrokenGit(host)
  if (version !== undefined && failure === undefined) return pass(version)
  const has = (name: 'repo' | 'targetBranch') =>
    // A wrong value is the failure of its own check.
    settings.find(name).then(
      found => found !== undefined,
      () => true,
    )
  const isNeeded = !(await has('repo')) || !(await has('targetBranch'))
  const fix =
    version === undefined
      ? 'Install git (https://git-scm.com/downloads), or use --repo and --target-branch.'
      : 'Use --repo and --target-branch. To see all that git says, run: git remote -v'
  return { result: isNeeded ? 'fail' : 'warn', found: failure ?? '', fix }
}

/** Checks that a setting has a valid value; a wrong one is a warning, and so is `missing`. */
const checkSetting =
  (name: SettingKey, missing: Verdict) =>
  async ({ settings }: Session): Promise<Verdict> => {
    try {
      const found = await settings.find(name)
      await settings.read(name)
      return found === undefined ? missing : pass(`${found.value} (${found.origin})`)
    } catch (error) {
      const { message, details } = failureOrThrow(error)
      return warn(message, details.hint ?? '')
    }
  }

const readUsable = <N extends 'repo' | 'targetBranch' | 'org'>(name: N, { settings }: Session) =>
  settings.read(name).catch(() => undefined)

/** A failure because the service does not have what the settings name; says which queues there are. */
async function notFound(what: string, { probe, settings }: Session): Promise<Verdict> {
  const listQueues = settings.commandLine(['queue', 'list'], { repo: null, targetBranch: null })
  const { metrics = new Uint8Array() } = await probe()
  const { queues } = summarizeMetrics(readSamplesIn(metrics))
  const names = queues.map(({ repo = '?', branch }) => `${repo} ${branch}`)
  const list = names.length === 0 ? 'The service lists no queues.' : `Queues: ${joinTruncated(names)}.`
  return { result: 'fail', found: `${what}.`, fix: `${list}\nTo list the queues, run: ${listQueues}` }
}

async function checkQueue(session: Session): Promise<Verdict> {
  const [repo, targetBranch] = [await readUsable('repo', session), await readUsable('targetBranch', session)]
  if (repo === undefined || targetBranch === undefined) return skip('the settings name no queue')
  const name = shortRepositoryName(repo)
  const limits = { maxRetries: 0 }
  const queue = await readIfFound(session.client(), getQueue, { repo, targetBranch }, { limits })
  return queue === undefined
    ? notFound(describeMissingQueue({ repo, targetBranch }), session)
    : pass(`${name} ${targetBranch}: ${summarizeQueue(queue)}`)
}

/** Checks the organization: with a repository, by a page of failing tests, the only read that needs it. */
async function checkOrganization(session: Session): Promise<Verdict> {
  const missing = {
    ...skip('needed only for flaky commands'),
    fix: 'Use --org <slug>, or store it with config set.',
  }
  const outcome = await checkSetting('org', missing)(session)
  const [org, repo] = [await readUsable('org', session), await readUsable('repo', session)]
  const { error } = await session.probe()
  if (outcome.result !== 'pass' || org === undefined || repo === undefined || error !== undefined)
    return outcome
  const now = session.host.clock.now()
  const params = { org, repo, start: now - 3_600_000, end: now, pageSize: 1, pageToken: '' }
  try {
    await callOperation(session.client(), failingTestsPage, params, { limits: { maxRetries: 0 } })
    return outcome
  } catch (error) {
    const failure = failureOrThrow(error)
    const { status, hint = '' } = failure.details
    if (status === 401 || status === 403) return warn(failure.message, hint)
    if (!isNotFound(failure)) throw failure
    return notFound(`${org} has no tests of ${shortRepositoryName(repo)}`, session)
  }
}

/** All checks, in their order: the setup, the service, then the directory and the machine. */
export const checks: readonly Check[] = [
  { check: 'versions', run: checkVersions },
  { check: 'settings', run: checkSettings },
  { check: 'base URL', run: async ({ settings }) => pass(await settings.require('baseUrl')) },
  { check: 'proxy', run: checkProxy },
  { check: 'token', needs: ['base URL'], run: checkToken },
  { check: 'DNS', needs: ['settings', 'base URL', 'proxy'], run: checkDns },
  { check: 'TLS', needs: ['DNS'], run: checkTls },
  { check: 'service', needs: ['token', 'DNS', 'TLS'], run: checkService },
  { check: 'clock', needs: ['service'], run: checkClock },
  { check: 'service status', needs: ['TLS'], run: checkStatus },
  { check: 'git', run: checkGit },
  { check: 'CI', run: checkCi },
  { check: 'repository', run: checkSetting('repo', notSet('--repo owner/name')) },
  { check: 'target branch', run: checkSetting('targetBranch', notSet('--target-branch <branch>')) },
  { check: 'pull request', run: checkSetting('pr', nothing) },
  { check: 'head commit', run: checkSetting('sha', nothing) },
  { check: 'organization', run: checkOrganization },
  { check: 'queue', needs: ['service'], run: checkQueue },
]
