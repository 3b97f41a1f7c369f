import { metrics } from '../api/operations/metrics.ts'
import { shellWord } from '../domain/shell-quote.ts'
import { asFailure, exitOf } from '../errors.ts'
import type { Desk } from '../cli/context.ts'
import { exchange } from '../api/call.ts'
import type { AccessProblem } from '../config/file-access.ts'
import { isCiJob } from '../config/continuous-integration.ts'
import type { Name } from '../config/setting-definitions.ts'
import { type JsonObject } from '../json.ts'
import { table } from '../output/view.ts'
import { command } from '../cli/command.ts'

/** One check: how it ended, what was found, and how to mend it. */
interface Check {
  readonly check: string
  readonly result: 'pass' | 'warn' | 'fail'
  readonly found: string
  readonly mend?: string
}

/** Clocks that differ by more make a range of time mean something else than it says. */
const mostSkew = 60_000

const oldestNode = [20, 18, 1] as const

const isOldEnough = (version: string): boolean => {
  const parts = version.split('.').map(Number)
  const index = oldestNode.findIndex((part, position) => (parts[position] ?? 0) !== part)
  return index < 0 || (parts[index] ?? 0) > (oldestNode[index] ?? 0)
}

function versions({ world }: Desk): Check {
  const found = `mergeq ${world.runtime.version}, Node ${world.runtime.node}, ${world.runtime.platform}`
  if (isOldEnough(world.runtime.node)) return { check: 'versions', result: 'pass', found }
  return { check: 'versions', result: 'warn', found, mend: `Use Node ${oldestNode.join('.')} or later.` }
}

async function storedSettings({ settings }: Desk): Promise<Check> {
  const { path } = settings.store
  if (path === undefined)
    return {
      check: 'settings',
      result: 'warn',
      found: 'no folder to store them in',
      mend: 'Set HOME or MERGEQ_CONFIG_DIR.',
    }
  await settings.store.read().catch(() => undefined)
  const trouble = settings.store.trouble()
  if (trouble === undefined) return { check: 'settings', result: 'pass', found: path }
  return { check: 'settings', result: 'fail', found: trouble.message, mend: trouble.details.hint ?? '' }
}

/** The check of the stored settings, failed where others own them or may use them; a file that is broken goes first. */
async function withAccess(stored: Check, { settings }: Desk): Promise<Check> {
  const problems = await settings.store.accessProblems()
  if (stored.result !== 'pass' || problems.length === 0) return stored
  const fixOf = ({ kind, path }: AccessProblem) => {
    if (kind === 'file') return `chmod 600 ${shellWord(path)}`
    if (kind === 'folder') return `chmod go-w ${shellWord(path)}`
    return 'Run mergeq as that user, change the owner with chown, or name a folder of your own in MERGEQ_CONFIG_DIR.'
  }
  return {
    check: 'settings',
    result: 'fail',
    found: problems.map(({ path, what }) => `${path} ${what}`).join('; '),
    mend: [...new Set(problems.map(fixOf))].join('; '),
  }
}

/** A value that a setting gives; one that nothing gives is worth a warning. */
async function given(check: string, name: Name, { settings }: Desk): Promise<Check> {
  try {
    const found = await settings.find(name)
    await settings.read(name)
    if (found !== undefined) return { check, result: 'pass', found: `${found.value} (${found.origin})` }
    await settings.need(name)
    return { check, result: 'warn', found: 'none' }
  } catch (error) {
    const { message, details } = asFailure(error)
    return { check, result: 'warn', found: message, mend: details.hint ?? '' }
  }
}

async function baseAddress({ settings }: Desk): Promise<Check> {
  try {
    return { check: 'base address', result: 'pass', found: await settings.need('baseUrl') }
  } catch (error) {
    const { message, details } = asFailure(error)
    return { check: 'base address', result: 'fail', found: message, mend: details.hint ?? '' }
  }
}

function proxy({ world: { env } }: Desk): Check {
  const name = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'].find(one => (env[one] ?? '') !== '')
  const value = name === undefined ? '' : (env[name] ?? '')
  if (name === undefined) return { check: 'proxy', result: 'pass', found: 'none' }
  if (URL.canParse(value))
    return { check: 'proxy', result: 'pass', found: `${new URL(value).host} (${name})` }
  return {
    check: 'proxy',
    result: 'fail',
    found: `${name} is no address`,
    mend: 'For example http://proxy.example:3128.',
  }
}

async function token(desk: Desk): Promise<Check> {
  try {
    return { check: 'token', result: 'pass', found: (await desk.token()).source }
  } catch (error) {
    const { message, details } = asFailure(error)
    return { check: 'token', result: 'fail', found: message, mend: details.hint ?? '' }
  }
}

/** DNS, TLS, the connection and the token, in one read; and the service's clock beside ours. */
async function service(desk: Desk): Promise<readonly Check[]> {
  const { clock } = desk.world
  const started = clock.now()
  try {
    const once = { ...desk, options: { ...desk.options, retries: 0 } }
    const { date } = await exchange(
      metrics,
      { values: { repo: undefined, branch: undefined }, sets: [] },
      once,
    )
    const found = `answered after ${clock.now() - started} ms: DNS, TLS and the token are good`
    return [{ check: 'service', result: 'pass', found }, skew(date, started, clock.now())]
  } catch (error) {
    const { message, details } = asFailure(error)
    return [{ check: 'service', result: 'fail', found: message, mend: details.hint ?? '' }]
  }
}

function skew(date: number | undefined, asked: number, answered: number): Check {
  if (date === undefined)
    return { check: 'clock', result: 'warn', found: 'the service did not say what time it is' }
  const off = date - (asked + answered) / 2
  const found = `${Math.abs(Math.round(off / 1_000))} s ${off < 0 ? 'ahead of' : 'behind'} the service`
  if (Math.abs(off) <= mostSkew) return { check: 'clock', result: 'pass', found }
  return {
    check: 'clock',
    result: 'warn',
    found,
    mend: 'Set this machine’s clock: ranges of time are counted by it.',
  }
}

async function git({ world }: Desk): Promise<Check> {
  const { code, out } = await world.spawn('git', ['--version'], {
    env: { PATH: world.env.PATH },
    output: 'capture',
    timeout: 5_000,
  })
  if (code === 0) return { check: 'git', result: 'pass', found: out.trim() }
  return {
    check: 'git',
    result: 'warn',
    found: 'git could not be run',
    mend: 'Without it, give --repo and --target-branch.',
  }
}

const job = ({ world: { env } }: Desk): Check => ({
  check: 'CI',
  result: 'pass',
  found: isCiJob(env) ? 'a CI job: nothing is asked' : 'not a CI job',
})

const columns = [
  ['CHECK', 'check'],
  ['RESULT', 'result', 'state'],
  ['FOUND', 'found'],
  ['MEND', 'mend'],
] as const

/** Every check in its order, and what it looks at. */
const checkList = [
  ['versions', 'the versions of mergeq and Node, and the platform'],
  ['settings', 'the file of the stored settings'],
  ['base address', 'the base address of the service'],
  ['proxy', 'the proxy variables'],
  ['token', 'the token, and where it comes from'],
  ['service', 'one read of the metrics: DNS, TLS, the connection and the token'],
  ['clock', "this machine's clock beside the service's"],
  ['git', 'git --version'],
  ['CI', 'whether this is a CI job'],
  ['repository', 'the repository that commands use here'],
  ['target branch', 'the target branch that commands use here'],
] as const

/** Lists the checks, and runs none of them. */
async function listChecks({ printer }: Desk): Promise<number> {
  await printer.print({
    records: checkList.map(([check, looksAt]) => ({ check, looksAt })),
    document: found => found,
    shape: found =>
      table(found, [
        ['CHECK', 'check'],
        ['LOOKS AT', 'looksAt'],
      ]),
  })
  await printer.end()
  return 0
}

export const doctor = command({
  command: 'doctor',
  summary: 'Check token, base address, network, clock, git and CI, and say how to mend what is wrong',
  asks: [metrics],
  bearsFailures: true,
  ends: ['check-failed'],
  prints: {
    table: 'a row for each check',
    json: '[{"check","result","found","mend"}]',
    ndjson: 'one check a line',
  },
  fields: {},
  examples: ['mergeq doctor', 'mergeq doctor --json'],
  async run(_, desk) {
    if (desk.options.dryRun) return listChecks(desk)
    const stored = await storedSettings(desk)
    const checks: Check[] = [versions(desk), stored, await baseAddress(desk), proxy(desk), await token(desk)]
    const isReady = checks.every(({ result }) => result !== 'fail')
    if (isReady) checks.push(...(await service(desk)))
    checks.push(await git(desk), job(desk))
    checks.push(await given('repository', 'repo', desk), await given('target branch', 'targetBranch', desk))
    // Who may use the settings says nothing of the connection: the service was asked all the same.
    const settled = await withAccess(stored, desk)
    const all = checks.map(one => (one === stored ? settled : one))
    const records: JsonObject[] = all.map(one => ({ ...one }))
    await desk.printer.print({ records, document: found => found, shape: found => table(found, columns) })
    await desk.printer.end()
    return exitOf(all.some(({ result }) => result === 'fail') ? 'check-failed' : 'ok')
  },
})
