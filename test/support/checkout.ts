import type { CapturedResult } from '../../src/host/host.ts'
import type { Setting } from './harness.ts'

/** What git says to a command line, by some of its words. */
export type Git = Readonly<Record<string, CapturedResult>>

export const prints = (out: string): CapturedResult => ({ code: 0, out })
export const gitFails = (err = 'fatal: odd.\n', code = 128): CapturedResult => ({ code, out: '', err })

/** Returns what git says, by the first words that are in the command line; it fails with any other. */
export const answerGit = (git: Git, args: readonly string[]): CapturedResult =>
  Object.entries(git).find(([words]) => ` ${args.join(' ')}`.includes(` ${words}`))?.[1] ?? gitFails()

/** What a checkout says: its remotes, its branch, and the pull request whose head is checked out. */
interface CheckoutFacts {
  /** The addresses of the remotes, by their names. */
  readonly remotes?: Readonly<Record<string, string>>
  readonly branch?: string
  readonly head?: string
  readonly pr?: number
  /** What `git config --get-regexp` prints. */
  readonly config?: string
  /** Branches that the checkout has, as refs. */
  readonly refs?: readonly string[]
  readonly root?: string
}

const commit = '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9'

/** Plays git in a checkout; other programs are not found. */
export function checkout({
  remotes = { origin: 'https://github.com/acme/web.git' },
  branch = 'fix-cart',
  head = commit,
  pr,
  config = '',
  refs = [],
  root = '/repo',
}: CheckoutFacts = {}): NonNullable<Setting['spawn']> {
  const ok = (out: string): CapturedResult => ({ code: 0, out })
  const failed = { code: 1, out: '', err: '' }
  const replies: readonly (readonly [RegExp, () => CapturedResult])[] = [
    [
      / remote -v$/,
      () =>
        ok(
          Object.entries(remotes)
            .map(([name, url]) => `${name}\t${url} (fetch)\n`)
            .join(''),
        ),
    ],
    [/ ls-remote /, () => (pr === undefined ? failed : ok(`${head}\trefs/pull/${pr}/head\n`))],
    [/ symbolic-ref --quiet HEAD$/, () => ok(`refs/heads/${branch}\n`)],
    [/ symbolic-ref --short HEAD$/, () => ok(`${branch}\n`)],
    [
      / rev-parse --symbolic-full-name refs\/remotes\/(?<remote>[^/]+)\/HEAD$/,
      () => ok(`refs/remotes/${Object.keys(remotes)[0]}/main\n`),
    ],
    [/ rev-parse HEAD$/, () => ok(`${head}\n`)],
    [/ rev-parse --show-toplevel$/, () => ok(`${root}\n`)],
    [/ config --get-regexp /, () => (config === '' ? failed : ok(config))],
    [/ rev-list --count /, () => ok('0\n')],
  ]
  return (program, args) => {
    if (program !== 'git') return { code: 127, out: '', startError: 'ENOENT' }
    const line = ` ${args.join(' ')}`
    const ref = / show-ref --verify --quiet (\S+)$/.exec(line)?.[1]
    if (ref !== undefined) return refs.includes(ref) ? ok('') : failed
    return replies.find(([pattern]) => pattern.test(line))?.[1]() ?? failed
  }
}
