import { isContinuousIntegration } from '../../config/ci-systems.ts'
import { readGitVersion } from '../../config/run-git.ts'
import { isLoopback, type SettingKey } from '../../config/setting-definitions.ts'
import type { AccessProblem } from '../../config/store.ts'
import { shellWord } from '../../domain/suggested-command.ts'
import { parseUrl } from '../../url.ts'
import {
  type Check,
  type CheckOutcome,
  type CheckSession,
  errorOutcome,
  pass,
  skip,
  warn,
} from './doctor-check.ts'

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

async function checkBaseUrl({ context: { settings } }: CheckSession): Promise<CheckOutcome> {
  try {
    return pass(await settings.require('baseUrl'))
  } catch (error) {
    return errorOutcome('fail', error)
  }
}

async function checkProxy({ context: { host, settings } }: CheckSession): Promise<CheckOutcome> {
  try {
    const { bypassesProxy, proxyFromEnvironment } = await import('../../http/http-client.ts')
    const proxy = proxyFromEnvironment(host.env)
    if (proxy === undefined) return pass('none')
    const name = ['https_proxy', 'HTTPS_PROXY'].find(variable => (host.env[variable] ?? '') !== '')
    const baseUrl = await settings.require('baseUrl').catch(() => '')
    const url = parseUrl(baseUrl)
    const isUnused = url !== undefined && (isLoopback(url.hostname) || bypassesProxy(url, host.env))
    return pass(`${proxy.host} (${name})${isUnused ? `, not used for ${url.hostname}` : ''}`)
  } catch (error) {
    return errorOutcome('fail', error)
  }
}

async function checkToken({ context }: CheckSession): Promise<CheckOutcome> {
  try {
    return pass((await context.client().token()).source)
  } catch (error) {
    return errorOutcome('fail', error)
  }
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

const checkCi = ({ context: { host } }: CheckSession): CheckOutcome =>
  pass(isContinuousIntegration(host.env) ? 'CI job: no prompts' : 'not a CI job')

/** Returns a function that checks that a setting has a valid value; it warns otherwise. */
const checkSetting =
  (name: SettingKey, fix: string) =>
  async ({ context: { settings } }: CheckSession): Promise<CheckOutcome> => {
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
  const outcome = await checkSetting('org', fix)(session)
  return outcome.found === 'none' ? { ...skip('needed only for flaky commands'), fix } : outcome
}

/** The checks that need no other check, and come before the checks of the service. */
export const setupChecks: readonly Check[] = [
  {
    check: 'versions',
    description: 'versions of mergeq and Node, and the platform',
    run: checkVersions,
  },
  {
    check: 'settings',
    description: 'the settings file and its permissions',
    run: checkSettings,
  },
  { check: 'base URL', description: 'the base URL of the service', run: checkBaseUrl },
  {
    check: 'proxy',
    description: 'the proxy environment variables',
    run: checkProxy,
  },
  {
    check: 'token',
    description: 'the API token and its source',
    needs: ['base URL'],
    run: checkToken,
  },
]

/** The checks of the directory and the machine, which come after the checks of the service. */
export const directoryChecks: readonly Check[] = [
  { check: 'git', description: 'git --version', run: checkGit },
  { check: 'CI', description: 'whether this is a CI job', run: checkCi },
  {
    check: 'repository',
    description: 'the repository that commands use in this directory',
    run: checkSetting('repo', 'Use --repo owner/name, or run: mergeq config set repo owner/name'),
  },
  {
    check: 'target branch',
    description: 'the target branch that commands use in this directory',
    run: checkSetting(
      'targetBranch',
      'Use --target-branch <branch>, or run: mergeq config set target-branch <branch>',
    ),
  },
  {
    check: 'organization',
    description: 'the organization slug, which the flaky commands need',
    run: checkOrganization,
  },
]
