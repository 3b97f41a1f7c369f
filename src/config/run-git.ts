import type { Environment, GitResult, Host } from '../host/host.ts'

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
  return result.code === 0 ? undefined : describeGitFailure(result)
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

/** The characters of a message of git that are shown. */
const maxReasonLength = 160

/**
 * What git and ssh print for common failures, and what to say instead; the first pattern that matches wins.
 * The text of a match is used where nothing is said instead.
 */
const knownFailures: readonly (readonly [pattern: RegExp, reason?: string])[] = [
  [/not a git repository/i, 'the working directory is not in a git checkout'],
  [/dubious ownership/i, 'git does not trust this checkout, because another user owns it'],
  [/ambiguous argument 'HEAD'|unknown revision/i, 'the current branch has no commit yet'],
  [/host identification has changed/i, 'the host key differs from the key that ssh knows'],
  [
    /host key verification failed|no \S+ host key is known/i,
    'ssh does not know the host key; connect to the host once with ssh to accept it',
  ],
  [/permission denied \([^)\n]*\)/i],
  [/could not read (?:username|password)/i, 'the remote asks for a login, and git has no stored credential'],
  [
    /authentication failed|invalid username or (?:password|token)/i,
    'the remote rejected the stored credential',
  ],
  [
    /repository (?:'[^']*' )?not found/i,
    'the repository was not found, or the credential does not give access to it',
  ],
  [/could not resolve host(?:name)?:? [\w.-]+/i],
  [/cannot run ssh|unable to fork/i, 'ssh was not found'],
  [/connection (?:refused|timed out|reset)|network is unreachable/i],
]

/** Lines of git that do not say what happened. */
const uselessLine = /could not read from remote repository|correct access rights|repository exists|^\s*$/i

/** Returns why git failed, in a few words without a full stop. A credential in a URL is left out. */
export function describeGitFailure({ code, err = '', timedOut }: GitResult): string {
  if (timedOut === true) return 'git did not finish in time'
  if (code === 127 && err === '') return 'git was not found'
  for (const [pattern, reason] of knownFailures) {
    const [match] = pattern.exec(err) ?? []
    if (match !== undefined) return reason ?? match
  }
  const lines = err.split(/\r?\n/).filter(line => !uselessLine.test(line))
  const line = lines.findLast(text => text.startsWith('fatal: ')) ?? lines.at(-1) ?? `exit code ${code}`
  return line
    .replace(/^(?:fatal|error): /, '')
    .replace(/:\/\/[^/@\s]*@/g, '://')
    .replace(/\.$/, '')
    .slice(0, maxReasonLength)
}

/**
 * Returns the names of the branches that the checkout knows of its remotes, each once, in the order of git.
 * No remote is asked. Returns no names without git and outside a checkout.
 */
export async function listRemoteBranches(host: Host): Promise<readonly string[]> {
  const [remotes = '', refs = ''] = await Promise.all([
    runGit(host, 'remote'),
    runGit(host, 'for-each-ref', '--format=%(refname)', 'refs/remotes'),
  ])
  // The name of a remote may contain slashes.
  const prefixes = remotes
    .split('\n')
    .filter(name => name !== '')
    .map(name => `refs/remotes/${name}/`)
    .sort((one, other) => other.length - one.length)
  const branches = refs.split('\n').flatMap(ref => {
    const prefix = prefixes.find(prefix => ref.startsWith(prefix))
    return prefix === undefined ? [] : [ref.slice(prefix.length)]
  })
  return [...new Set(branches)].filter(branch => branch !== 'HEAD')
}

/** The address of a remote without its credential, and the environment that passes the credential to git. */
interface SplitAddress {
  /** The address without a credential, safe to show and to pass as an argument. */
  readonly address: string
  /** The given environment; with a credential, also `GIT_CONFIG_COUNT` and its keys and values. */
  readonly env: Environment
}

const userInfoPattern = /^((https?|ssh):\/\/)([^/?#]*)@(.*)$/i

const decodePercent = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Separates the user name and password from the address of a remote. Every process of the machine can see
 * arguments, and git passes an address on to another program; only this user can see the environment. An
 * ssh address keeps the user name, which is part of the address, and loses the password, which ssh never
 * accepts. An address without a credential and an address in the scp form are returned unchanged.
 */
function splitCredential(address: string, env: Environment): SplitAddress {
  const [, prefix = '', protocol = '', userInfo = '', rest = ''] = userInfoPattern.exec(address) ?? []
  if (prefix === '') return { address, env }
  const colon = userInfo.indexOf(':')
  const user = colon < 0 ? userInfo : userInfo.slice(0, colon)
  if (protocol.toLowerCase() === 'ssh') return { address: `${prefix}${user}@${rest}`, env }
  const plainAddress = `${prefix}${rest}`
  // An insteadOf rule of the user that adds a credential would put it into the address again; the longest
  // rule wins.
  const settings: (readonly [key: string, value: string])[] = [
    [`url.${plainAddress}.insteadOf`, plainAddress],
  ]
  if (colon < 0) settings.push([`credential.${plainAddress}.username`, decodePercent(user)])
  else {
    const pair = `${decodePercent(user)}:${decodePercent(userInfo.slice(colon + 1))}`
    settings.push([
      `http.${plainAddress}.extraHeader`,
      `Authorization: Basic ${Buffer.from(pair).toString('base64')}`,
    ])
  }
  return { address: plainAddress, env: { ...env, ...configVariables(settings, env.GIT_CONFIG_COUNT) } }
}

/** Returns git settings as environment variables, numbered after the existing ones. */
function configVariables(
  settings: readonly (readonly [key: string, value: string])[],
  count: string | undefined,
): Environment {
  const firstIndex = Number(count ?? 0)
  if (!Number.isSafeInteger(firstIndex) || firstIndex < 0) return {}
  const variables = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${firstIndex + index}`, key],
    [`GIT_CONFIG_VALUE_${firstIndex + index}`, value],
  ])
  return { ...Object.fromEntries(variables), GIT_CONFIG_COUNT: String(firstIndex + settings.length) }
}
