import type { Environment, GitResult, Host } from '../host/host.ts'
import { splitCredential } from './remote-credential.ts'

/** The time limit of a git command that reads the checkout, in milliseconds. */
const localTimeLimit = 5_000
/** The time limit of a git command that asks a remote, in milliseconds. */
export const lookupTimeLimit = 10_000

/** Returns the environment without tokens (docs/reference/network.md, "Child processes"). */
export const withoutTokens = (env: Environment): Environment =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(?:MERGEQ_TOKEN|TRUNK_API_TOKEN)$/i.test(name)),
  )

/**
 * Variables that keep git from prompting, in a terminal or in a window, and that make its messages English.
 */
const gitVariables: Environment = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_ASKPASS: '',
  SSH_ASKPASS: 'false',
  SSH_ASKPASS_REQUIRE: 'force',
  GCM_INTERACTIVE: 'never',
}

/**
 * Variables that bind git to a checkout: with them git would use the settings of that checkout outside it
 * too.
 */
const repositoryVariables =
  /^GIT_(?:DIR|COMMON_DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_.*|NAMESPACE|PREFIX|CONFIG)$/i

/** The subcommands used here run none of these; the options rule it out. */
const safeOptions = ({ runtime }: Host): readonly string[] => [
  '--no-pager',
  '-c',
  'core.fsmonitor=false',
  '-c',
  `core.hooksPath=${runtime.nullDevice}`,
]

/**
 * The results of git commands by host: each command runs once, however many pull requests a command handles.
 */
const resultCache = new WeakMap<Host, Map<string, Promise<GitResult | undefined>>>()

/**
 * Returns the result of a git command in the checkout, or undefined if the working directory was removed. git
 * enters the checkout with `-C`, and may not fetch anything.
 */
function spawnGit(host: Host, args: readonly string[]): Promise<GitResult | undefined> {
  const cached = resultCache.get(host) ?? new Map<string, Promise<GitResult | undefined>>()
  resultCache.set(host, cached)
  const result = cached.get(args.join(' ')) ?? run()
  cached.set(args.join(' '), result)
  return result

  async function run() {
    if (host.cwd === undefined) return undefined
    return host.git(['-C', host.cwd, ...safeOptions(host), ...args], {
      env: {
        ...withoutTokens(host.env),
        ...gitVariables,
        GIT_ALLOW_PROTOCOL: 'none',
        GIT_NO_LAZY_FETCH: '1',
      },
      timeout: localTimeLimit,
    })
  }
}

/** Returns the version of git, such as `git version 2.39.5`; undefined when git cannot be run. */
export async function readGitVersion(host: Host): Promise<string | undefined> {
  const { code, out } = await host.git(['--version'], {
    env: { ...withoutTokens(host.env), ...gitVariables },
    timeout: localTimeLimit,
  })
  return code === 0 ? out.trim() : undefined
}

/**
 * Returns the output of a git command in the checkout, or undefined when it fails. git may not fetch
 * anything.
 */
export async function runGit(host: Host, ...args: readonly string[]): Promise<string | undefined> {
  const result = await spawnGit(host, args)
  return result?.code === 0 ? result.out : undefined
}

/** Returns why a git command in the checkout fails, without a full stop; undefined if it succeeds. */
export async function explainGit(host: Host, ...args: readonly string[]): Promise<string | undefined> {
  const result = await spawnGit(host, args)
  if (result === undefined) return 'the working directory no longer exists'
  return result.code === 0 ? undefined : (await import('./git-failure.ts')).describeGitFailure(result)
}

/**
 * Returns the number of parents of a commit, correctly in a shallow clone too. Returns undefined when git
 * does not know the commit.
 */
export async function countParents(host: Host, commit: string): Promise<number | undefined> {
  if (!/^[\da-f]{40,64}$/i.test(commit)) return undefined
  const text = await runGit(host, 'cat-file', 'commit', commit)
  return text === undefined ? undefined : (text.split('\n\n')[0]?.match(/^parent /gm) ?? []).length
}

/**
 * Returns the result of `git ls-remote`: its output is the refs of a remote, one per line. git runs outside
 * the checkout, so that its settings do not apply. A credential in the address is not passed as an argument.
 */
export async function lsRemote(host: Host, remote: string, pattern: string): Promise<GitResult> {
  const { address, env } = splitCredential(remote, host.env)
  const inherited = Object.entries(withoutTokens(env)).filter(([name]) => !repositoryVariables.test(name))
  const args = ['--no-pager', '-c', 'http.followRedirects=false', 'ls-remote', '--', address, pattern]
  return host.git(args, {
    // git uses https and ssh only, whatever the settings of the user allow, and no local repository.
    env: {
      ...Object.fromEntries(inherited),
      ...gitVariables,
      GIT_DIR: host.runtime.nullDevice,
      GIT_ALLOW_PROTOCOL: 'https:ssh',
    },
    timeout: lookupTimeLimit,
  })
}
