import { type Repository, repositoryName } from '../domain/values/repository.ts'
import { usageError } from '../errors.ts'
import type { Environment, Host } from '../host/host.ts'
import { splitCredential } from './remote-credential.ts'
import type { SettingKey } from './setting-definitions.ts'
import type { ResolvedValue, SettingSource } from './source.ts'

/** What the checkout is asked for. */
interface GitLookup {
  /** A change is not guessed for where a read may be. */
  readonly changes: boolean
  /** Says on standard error what was chosen for a person. */
  notify(text: string): Promise<void>
  /**
   * The repository that something nearer than git names, if anything does: only a remote of the same repository then
   * gives the target branch and the pull request.
   */
  repo?(): Promise<Repository | undefined>
}

interface Remote {
  readonly name: string
  readonly address: string
  readonly repo: Repository | undefined
  readonly protocol: string | undefined
}

const localTimeLimit = 5_000
const lookupTimeLimit = 10_000

/** The environment that other programs get: ours without the tokens (WIRE.md section 4). */
export const withoutTokens = (env: Environment): Environment =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(?:MERGEQ_TOKEN|TRUNK_API_TOKEN)$/i.test(name)),
  )

/** Nothing is asked of a person, in a terminal or in a window. */
const silent: Environment = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_ASKPASS: '',
  SSH_ASKPASS: 'false',
  SSH_ASKPASS_REQUIRE: 'force',
  GCM_INTERACTIVE: 'never',
}

/** What ties git to a checkout: left in place, the settings of that checkout would be read outside it too. */
const repositoryVariables =
  /^GIT_(?:DIR|COMMON_DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_.*|NAMESPACE|PREFIX|CONFIG)$/

/** git starts here and goes to the checkout by `-C`: a program of that name in the checkout is never the one that runs. */
const elsewhere = '/'

/** Nothing of this is run by the subcommands used here; that it cannot be is cheap to notify. */
const switchedOff = ['--no-pager', '-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null']

/** What git has said of the checkout of each world: it is asked once, however many pull requests a run is about. */
const answers = new WeakMap<Host, Map<string, Promise<string | undefined>>>()

/** What git prints about the checkout, or undefined where it cannot tell. Nothing may be fetched for it. */
function ask(host: Host, ...words: readonly string[]): Promise<string | undefined> {
  const said = answers.get(host) ?? new Map<string, Promise<string | undefined>>()
  answers.set(host, said)
  const answer = said.get(words.join(' ')) ?? run()
  said.set(words.join(' '), answer)
  return answer

  async function run() {
    if (host.cwd === undefined) return undefined
    const { code, out } = await host.spawn('git', ['-C', host.cwd, ...switchedOff, ...words], {
      env: { ...withoutTokens(host.env), ...silent, GIT_ALLOW_PROTOCOL: 'none', GIT_NO_LAZY_FETCH: '1' },
      cwd: elsewhere,
      output: 'capture',
      timeout: localTimeLimit,
    })
    return code === 0 ? out : undefined
  }
}

/** How many parents a commit of the checkout has; a clone cut short counts them too. Undefined where git cannot tell. */
export async function countParents(host: Host, commit: string): Promise<number | undefined> {
  if (!/^[\da-f]{40,64}$/i.test(commit)) return undefined
  const text = await ask(host, 'cat-file', 'commit', commit)
  return text === undefined ? undefined : (text.split('\n\n')[0]?.match(/^parent /gm) ?? []).length
}

/**
 * The refs at an address, asked outside the checkout so that none of its settings count; none where nothing answers. A
 * credential in the address is not in the arguments.
 */
async function lsRemote(host: Host, remote: string, pattern: string): Promise<readonly string[]> {
  const { address, env } = splitCredential(remote, host.env)
  const inherited = Object.entries(withoutTokens(env)).filter(([name]) => !repositoryVariables.test(name))
  const args = ['--no-pager', '-c', 'http.followRedirects=false', 'ls-remote', '--', address, pattern]
  const { code, out } = await host.spawn('git', args, {
    // No file is a repository, and https and ssh alone are spoken whatever the settings of the user allow besides.
    env: {
      ...Object.fromEntries(inherited),
      ...silent,
      GIT_DIR: '/dev/null',
      GIT_ALLOW_PROTOCOL: 'https:ssh',
    },
    cwd: elsewhere,
    output: 'capture',
    timeout: lookupTimeLimit,
  })
  return code === 0 ? out.split('\n') : []
}

/** The remotes that may name the repository: `origin` and `upstream`; the only one where neither is there. */
async function readRemotes(host: Host): Promise<readonly Remote[]> {
  const listed = await ask(host, 'remote', '-v')
  if (listed === undefined) return []
  // The first address of a remote is the one that git fetches from, with insteadOf applied.
  const addresses = new Map(
    [...listed.matchAll(/^(\S+)\t(.*) \(fetch\)(?: \[[^\]]*\])?$/gm)]
      .toReversed()
      .map(([, name = '', address = '']) => [name, address] as const),
  )
  const usual = ['origin', 'upstream'].filter(name => addresses.has(name))
  const names = usual.length === 0 && addresses.size === 1 ? [...addresses.keys()] : usual
  const { parseGitRemote } = await import('./git-remote.ts')
  return names.map(name => {
    const address = addresses.get(name) ?? ''
    const { protocol, ...repo } = parseGitRemote(address) ?? {}
    return { name, address, protocol, repo: 'host' in repo ? repo : undefined }
  })
}

const isSame = (one: Repository, other: Repository): boolean =>
  repositoryName(one).toLowerCase() === repositoryName(other).toLowerCase()

/** `origin` and `upstream`, where they name two different repositories: a fork and its parent. */
function forkAmong(remotes: readonly Remote[]): readonly [Remote, Remote] | undefined {
  const [origin, upstream] = remotes.filter(({ repo }) => repo !== undefined)
  if (origin?.repo === undefined || upstream?.repo === undefined) return undefined
  return isSame(origin.repo, upstream.repo) ? undefined : [origin, upstream]
}

/** The worlds in which a person knows which of two repositories is read from. */
const told = new WeakSet<Host>()

/**
 * The git checkout as a source (CLI.md section 3): the repository from its remotes, the target branch from the
 * remote's `HEAD`, the head commit from `HEAD`, and the pull request whose head that commit is. A fork and its parent
 * are a usage failure for a change; a read takes the parent and says so. No git, no checkout or a broken one gives
 * nothing. Nothing that the repository configures is run.
 */
export function gitSource(host: Host, about: GitLookup): SettingSource {
  const remotes = once(() => readRemotes(host))
  const head = once(
    async () => /^[\da-f]{40,64}$/.exec((await ask(host, 'rev-parse', 'HEAD'))?.trim() ?? '')?.[0],
  )
  const named = once(async () => {
    const all = await remotes()
    const fork = forkAmong(all)
    if (fork === undefined) return all.find(({ repo }) => repo !== undefined) ?? all[0]
    const [origin, upstream] = fork.map(
      ({ name, repo }) => `${name} (${repo === undefined ? '' : repositoryName(repo)})`,
    )
    if (about.changes)
      throw usageError(
        `The remotes ${origin} and ${upstream} name two different repositories.`,
        'Say which one is meant with --repo owner/name, or set MERGEQ_REPO.',
      )
    const isNews = !told.has(host)
    told.add(host)
    if (isNews)
      await about.notify(
        `The remotes ${origin} and ${upstream} differ: reading from upstream; --repo chooses.`,
      )
    return fork[1]
  })
  /** The remote of the repository that the run is about; none for a change between a fork and its parent. */
  const meant = once(async () => {
    const args = await about.repo?.()
    const all = await remotes()
    if (args === undefined) return about.changes && forkAmong(all) !== undefined ? undefined : named()
    return (
      all.find(({ repo }) => repo !== undefined && isSame(repo, args)) ??
      all.find(({ repo }) => repo === undefined)
    )
  })
  const finders: Readonly<Partial<Record<SettingKey, () => Promise<ResolvedValue | undefined>>>> = {
    repo: once(async () => {
      const remote = await named()
      return found(remote?.repo && repositoryName(remote.repo), `git remote ${remote?.name}`)
    }),
    targetBranch: once(async () => {
      const remote = await meant()
      if (remote === undefined) return undefined
      const place = `refs/remotes/${remote.name}/`
      const branch = (await ask(host, 'rev-parse', '--symbolic-full-name', `${place}HEAD`))?.trim() ?? ''
      return found(branch.startsWith(place) ? branch.slice(place.length) : '', `git ${remote.name}/HEAD`)
    }),
    sha: once(async () => found(await head(), 'git HEAD')),
    pr: once(async () => {
      const [remote, commit] = [await meant(), await head()]
      if (remote?.repo === undefined || commit === undefined) return undefined
      if (!/^(?:https|ssh)$/.test(remote.protocol ?? '')) return undefined
      const refs = await lsRemote(host, remote.address, 'refs/pull/*/head')
      const numbers = refs.flatMap(line => {
        const [, sha, number = ''] = /^([\da-f]+)\trefs\/pull\/(\d+)\/head$/.exec(line) ?? []
        return sha === commit ? [number] : []
      })
      if (numbers.length > 1)
        throw usageError(
          `The current commit ${commit.slice(0, 7)} is the head of several pull requests of ${repositoryName(remote.repo)}: ${numbers.map(number => `#${number}`).join(', ')}.`,
          'Name the one that is meant (123, #123 or its address), or set MERGEQ_PR.',
        )
      return found(numbers[0], `the pull requests at git remote ${remote.name}`)
    }),
  }
  return { find: name => finders[name]?.() }
}

const found = (value: string | undefined, origin: string): ResolvedValue | undefined =>
  value === undefined || value === '' ? undefined : { value, origin }

/** A question that is asked once: what it found, or why it failed, is kept for the run. */
function once<T>(find: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined
  return () => {
    asked ??= find()
    return asked
  }
}
