import { callOperation } from '../api/call.ts'
import { getMergeQueueMetrics } from '../api/operations/queue-metrics.ts'
import { withMaxRetries } from '../api/service-client.ts'
import { defineCommand } from '../cli/command.ts'
import type { CommandContext } from '../cli/context.ts'
import { isContinuousIntegration } from '../config/continuous-integration.ts'
import type { AccessProblem } from '../config/file-access.ts'
import type { SettingKey } from '../config/setting-definitions.ts'
import { shellWord } from '../domain/shell-quote.ts'
import { exitCodeOf, toMergeqError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { table } from '../output/view.ts'

/** The result of a check, with what it found and how to fix it. */
interface Check {
  readonly check: string
  readonly result: 'pass' | 'warn' | 'fail'
  readonly found: string
  readonly fix?: string
}

const warning = (check: string, found: string, fix: string): Check => ({
  check,
  result: 'warn',
  found,
  fix,
})

const pass = (check: string, found: string): Check => ({ check, result: 'pass', found })

/** Returns the result of a check that threw an error. */
function errorCheck(check: string, result: 'warn' | 'fail', error: unknown): Check {
  const { message, details } = toMergeqError(error)
  return { check, result, found: message, fix: details.hint ?? '' }
}

/** Upper limit for the clock difference, in milliseconds: a larger difference distorts time ranges. */
const maxClockSkew = 60_000

/** The oldest supported version of Node. */
const minNodeVersion = [20, 18, 1] as const

const isSupportedNode = (version: string): boolean => {
  const parts = version.split('.').map(Number)
  const index = minNodeVersion.findIndex((part, position) => (parts[position] ?? 0) !== part)
  return index < 0 || (parts[index] ?? 0) > (minNodeVersion[index] ?? 0)
}

function checkVersions({ host }: CommandContext): Check {
  const found = `mergeq ${host.runtime.version}, Node ${host.runtime.node}, ${host.runtime.platform}`
  if (isSupportedNode(host.runtime.node)) return pass('versions', found)
  return warning('versions', found, `Use Node ${minNodeVersion.join('.')} or later.`)
}

async function checkStoredSettings({ settings }: CommandContext): Promise<Check> {
  const { path } = settings.store
  if (path === undefined)
    return warning('settings', 'no configuration directory', 'Set HOME or MERGEQ_CONFIG_DIR.')
  await settings.store.read().catch(() => undefined)
  const storeError = settings.store.readError()
  if (storeError === undefined) return pass('settings', path)
  return errorCheck('settings', 'fail', storeError)
}

/** Extends the check of the stored settings: it fails if other users own the files or can access them. */
async function checkFileAccess(settingsCheck: Check, { settings }: CommandContext): Promise<Check> {
  const problems = await settings.store.accessProblems()
  if (settingsCheck.result !== 'pass' || problems.length === 0) return settingsCheck
  const fixOf = ({ kind, path }: AccessProblem) => {
    if (kind === 'file') return `chmod 600 ${shellWord(path)}`
    if (kind === 'folder') return `chmod go-w ${shellWord(path)}`
    return 'Run mergeq as that user, change the owner with chown, or set MERGEQ_CONFIG_DIR to a directory that you own.'
  }
  return {
    check: 'settings',
    result: 'fail',
    found: problems.map(({ path, description }) => `${path} ${description}`).join('; '),
    fix: [...new Set(problems.map(fixOf))].join('; '),
  }
}

/** Checks that a setting has a valid value; warns otherwise. */
async function checkSetting(check: string, name: SettingKey, { settings }: CommandContext): Promise<Check> {
  try {
    const found = await settings.find(name)
    await settings.read(name)
    if (found !== undefined) return pass(check, `${found.value} (${found.origin})`)
    await settings.require(name)
    return { check, result: 'warn', found: 'none' }
  } catch (error) {
    return errorCheck(check, 'warn', error)
  }
}

async function checkBaseUrl({ settings }: CommandContext): Promise<Check> {
  try {
    return pass('base URL', await settings.require('baseUrl'))
  } catch (error) {
    return errorCheck('base URL', 'fail', error)
  }
}

function checkProxy({ host: { env } }: CommandContext): Check {
  const name = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'].find(
    variable => (env[variable] ?? '') !== '',
  )
  const value = name === undefined ? '' : (env[name] ?? '')
  if (name === undefined) return pass('proxy', 'none')
  if (URL.canParse(value)) return pass('proxy', `${new URL(value).host} (${name})`)
  return {
    check: 'proxy',
    result: 'fail',
    found: `${name} is not a URL`,
    fix: `Set ${name} to a URL such as http://proxy.example:3128.`,
  }
}

async function checkToken(context: CommandContext): Promise<Check> {
  try {
    return pass('token', (await context.client().token()).source)
  } catch (error) {
    return errorCheck('token', 'fail', error)
  }
}

/** Checks DNS, TLS, the connection and the token with a single read, and compares the clocks. */
async function checkService(context: CommandContext): Promise<readonly Check[]> {
  const { clock } = context.host
  const sentAt = clock.now()
  try {
    const client = context.client()
    const { date } = await callOperation(
      client,
      getMergeQueueMetrics,
      {},
      { limits: withMaxRetries(client, 0) },
    )
    const found = `responded in ${clock.now() - sentAt} ms: DNS, TLS and the token work`
    return [pass('service', found), checkClock(date, sentAt, clock.now())]
  } catch (error) {
    return [errorCheck('service', 'fail', error)]
  }
}

function checkClock(date: number | undefined, sentAt: number, respondedAt: number): Check {
  if (date === undefined) return { check: 'clock', result: 'warn', found: 'the response has no date' }
  const offset = date - (sentAt + respondedAt) / 2
  const found = `${Math.abs(Math.round(offset / 1_000))}s ${offset < 0 ? 'ahead of' : 'behind'} the service`
  if (Math.abs(offset) <= maxClockSkew) return pass('clock', found)
  return warning('clock', found, 'Set the clock of this machine: time ranges depend on it.')
}

async function checkGit({ host }: CommandContext): Promise<Check> {
  const { code, out } = await host.spawn('git', ['--version'], {
    env: { PATH: host.env.PATH },
    output: 'capture',
    timeout: 5_000,
  })
  if (code === 0) return pass('git', out.trim())
  return warning('git', 'git cannot be run', 'Install git, or use --repo and --target-branch.')
}

const checkCi = ({ host: { env } }: CommandContext): Check =>
  pass('CI', isContinuousIntegration(env) ? 'CI job: no prompts' : 'not a CI job')

const columns = [
  ['CHECK', 'check'],
  ['RESULT', 'result', 'state'],
  ['FOUND', 'found'],
  ['FIX', 'fix'],
] as const

/** Every check in its order, and what it examines. */
const checkList = [
  ['versions', 'versions of mergeq and Node, and the platform'],
  ['settings', 'the settings file and its permissions'],
  ['base URL', 'the base URL of the service'],
  ['proxy', 'the proxy environment variables'],
  ['token', 'the API token and its source'],
  ['service', 'one request for the metrics: DNS, TLS, connection and token'],
  ['clock', "this machine's clock compared with the service's"],
  ['git', 'git --version'],
  ['CI', 'whether this is a CI job'],
  ['repository', 'the repository that commands use in this directory'],
  ['target branch', 'the target branch that commands use in this directory'],
] as const

/** Prints the list of checks without running them. */
async function listChecks({ printer }: CommandContext): Promise<number> {
  await printer.print({
    records: checkList.map(([check, subject]) => ({ check, looksAt: subject })),
    document: list => list,
    view: list =>
      table(list, [
        ['CHECK', 'check'],
        ['DESCRIPTION', 'looksAt'],
      ]),
  })
  await printer.end()
  return 0
}

/** `doctor`: checks the setup and suggests fixes; exits with `check-failed` if a check fails. */
export const doctorCommand = defineCommand({
  command: 'doctor',
  summary: 'Check the setup and suggest fixes',
  operations: [getMergeQueueMetrics],
  toleratesErrors: true,
  exitKinds: ['check-failed'],
  output: {
    table: 'one row per check',
    json: '[{"check","result","found","fix"}]',
    ndjson: 'one check per line',
  },
  // --dry-run lists the checks with what each looks at.
  fields: {
    names: ['check', 'result', 'found', 'fix', 'looksAt'],
    columns: [...columns, ['DESCRIPTION', 'looksAt']],
  },
  inputs: {},
  examples: ['mergeq doctor', 'mergeq doctor --json'],
  dryRun: (_, context) => listChecks(context),
  async run(_, context) {
    const settingsCheck = await checkStoredSettings(context)
    const checks: Check[] = [
      checkVersions(context),
      settingsCheck,
      await checkBaseUrl(context),
      checkProxy(context),
      await checkToken(context),
    ]
    const isReady = checks.every(({ result }) => result !== 'fail')
    if (isReady) checks.push(...(await checkService(context)))
    checks.push(await checkGit(context), checkCi(context))
    checks.push(
      await checkSetting('repository', 'repo', context),
      await checkSetting('target branch', 'targetBranch', context),
    )
    // File access does not affect the connection, so a problem there must not skip the check of the service.
    const accessCheck = await checkFileAccess(settingsCheck, context)
    const allChecks = checks.map(check => (check === settingsCheck ? accessCheck : check))
    const records: JsonObject[] = allChecks.map(check => ({ ...check }))
    await context.printer.print({ records, document: list => list, view: list => table(list, columns) })
    await context.printer.end()
    return exitCodeOf(allChecks.some(({ result }) => result === 'fail') ? 'check-failed' : 'ok')
  },
})
