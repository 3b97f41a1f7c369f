import type { Environment } from '../host/host.ts'
import type { CiInfo } from './ci-systems.ts'
import { toResolvedValue } from './setting-source.ts'

/** The members of the result of env-ci that are used. */
interface EnvCiResult {
  readonly name?: string
  readonly commit?: string
  readonly branch?: string
  readonly prBranch?: string
  readonly pr?: string | number
  readonly isPr?: boolean
  readonly tag?: string
}

/**
 * Returns what env-ci reports about a job of another system, or undefined. The repository is not among it:
 * its host is not known, and the git checkout has both. env-ci would run git for some systems, in the
 * checkout and with the whole environment: its search path contains no git, and no program can start in the
 * null device, so that none in the working directory or at the root of a drive is run.
 */
export async function readEnvCi(env: Environment, nullDevice: string): Promise<CiInfo | undefined> {
  // @ts-expect-error env-ci brings no types.
  const { default: envCi } = await import('env-ci')
  const detect = (): EnvCiResult => {
    try {
      return envCi({ env: { ...env, PATH: nullDevice }, cwd: nullDevice })
    } catch {
      return {}
    }
  }
  const { name, isPr, branch, prBranch, pr, tag = '', commit } = detect()
  if (name === undefined) return undefined
  const origin = `the variables of ${name}`
  return {
    title: name,
    repo: undefined,
    address: undefined,
    // Without isPr, the branch may be that of a pull request.
    head: toResolvedValue(isPr === false ? (tag === '' ? branch : '') : prBranch, origin),
    base: isPr ? toResolvedValue(branch, origin) : undefined,
    defaultBranch: undefined,
    isPullRequest: isPr === true,
    pr: isPr ? toResolvedValue(pr, origin) : undefined,
    sha: toResolvedValue(commit, origin),
    isShaUncertain: true,
    forkedRun: undefined,
  }
}
