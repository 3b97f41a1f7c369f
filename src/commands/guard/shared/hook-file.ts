import { extended, optional, ownRecord } from '../../../api/operations/fields.ts'
import { MergeqError, usageError } from '../../../base/errors.ts'
import type { Cli } from '../../../command/command.ts'
import { previewRecord, printPreview } from '../../../command/dry-run.ts'
import { joinPath, parentDirectory } from '../../../config/store.ts'
import { withoutTokens } from '../../../config/token-program.ts'
import type { Host } from '../../../host/host.ts'
import { columns, singleRecord } from '../../../output/view.ts'

/** The comment that identifies the hook of mergeq. */
const hookMarker = '# mergeq guard:'

/**
 * Returns the text of the hook. The hook runs mergeq from the PATH and blocks the push on its exit codes for a blocked
 * push and for signals. Any other exit code, such as of an older mergeq, an old Node or without mergeq, is said in one line
 * on each push, which continues unless `failClosed` is set. A shell with `-e` may run it.
 */
const renderHook = (failClosed: boolean): string => {
  const end = failClosed ? 'is blocked' : 'continues'
  return `#!/bin/sh
${hookMarker} blocks pushes to queued pull requests; \`mergeq guard uninstall\` removes this hook.
[ "\${MERGEQ_GUARD:-}" = off ] && exit 0
code=0
mergeq guard hook${failClosed ? ' --fail-closed' : ''} -- "$@" || code=$?
case $code in
0) exit 0 ;;
21 | 129 | 130 | 143) exit 1 ;;
127) echo "mergeq guard: mergeq is not on the PATH; the push ${end}." >&2 ;;
*) echo "mergeq guard: the push was not checked and ${end}: mergeq ended with $code. Update mergeq, then run: mergeq guard install" >&2 ;;
esac
exit ${failClosed ? 1 : 0}
`
}

/** The line to add to another hook; it must run before that hook reads standard input. A shell with `-e` may run it. */
const lineToAdd = (failClosed: boolean): string =>
  `refs=$(cat); printf '%s\\n' "$refs" | mergeq guard hook${failClosed ? ' --fail-closed' : ''} -- "$@" || ${failClosed ? 'exit 1' : '[ $? -ne 21 ] || exit 1'}`

const howToAdd =
  'It must be before any command that reads standard input; later commands can read that input from $refs.'

/** Runs `git rev-parse` in a folder. Returns its output without the final newline; undefined if it fails. */
async function runGitRevParse(host: Host, folder: string, ...args: string[]): Promise<string | undefined> {
  const env = withoutTokens(host.env)
  const { code, out } = await host.git(['-C', folder, 'rev-parse', ...args], { env, timeout: 5_000 })
  return code === 0 ? out.replace(/\r?\n$/, '') : undefined
}

/** Returns the path where git looks for the hook. Throws a usage error outside a checkout. */
async function findHookPath(host: Host): Promise<string> {
  // A relative `core.hooksPath` starts at the top of the work tree; a bare repository has no work tree.
  const { cwd } = host
  const root = cwd && ((await runGitRevParse(host, cwd, '--show-toplevel')) ?? cwd)
  const path = root && (await runGitRevParse(host, root, '--git-path', 'hooks/pre-push'))
  if (root === undefined || path === undefined)
    throw usageError(
      'The working directory is not in a git checkout.',
      'Run the command in the checkout that you push from.',
    )
  const { platform } = host.runtime
  const absolutePath = /^(?:\/|[A-Za-z]:)/.test(path) ? path : joinPath(root, path, platform)
  // git writes `/` on Windows too.
  return platform === 'win32' ? absolutePath.replaceAll('/', '\\') : absolutePath
}

const hookColumns = columns('hook', ['did', { title: 'RESULT' }])
const lineColumns = columns('line')

/** What was done to the hook. */
export const hookRecord = ownRecord({ hook: 'string', did: 'string' })

/**
 * The same, with the line to add to a hook that another program manages, null if it is there already, and the file that
 * sets `core.hooksPath`.
 */
export const installedHookRecord = extended(hookRecord, {
  line: optional('string | null'),
  setIn: optional('string'),
})

/** What the commands print of a hook, in a dry run too. */
export const shownHook = {
  records: [installedHookRecord, previewRecord],
  columns: [...hookColumns, ...lineColumns, ...columns('would')],
}

/** The hook of another program, and the file that names its folder. */
interface OtherHook {
  readonly path: string
  readonly setIn: string
}

/**
 * Returns the hook in which a line must be added because `core.hooksPath` leads git to other hooks than those of the
 * checkout; undefined if it is not set. Throws a usage error if it is set for other checkouts, too.
 */
async function findOtherHook(host: Host, path: string): Promise<OtherHook | undefined> {
  const cwd = host.cwd ?? ''
  const env = withoutTokens(host.env)
  /** Returns where the setting comes from: `file:.git/config` for git, also where another file includes that one. */
  const readOrigin = async (...scope: string[]) => {
    const args = ['config', '--get', '--show-origin', '--includes', ...scope, 'core.hooksPath']
    const { code, out } = await host.git(['-C', cwd, ...args], { env, timeout: 5_000 })
    return code === 0 ? out.split('\t')[0]?.replace(/^file:/, '') : undefined
  }
  const setIn = await readOrigin()
  if (setIn === undefined) return undefined
  const isOwn = (await readOrigin('--local')) ?? (await readOrigin('--worktree'))
  if (isOwn === undefined)
    throw usageError(
      `core.hooksPath is set in ${setIn}, not only for this checkout: git runs ${path}, and no hook of this checkout.`,
      'Nothing was written. To use the hooks of this checkout again, run: git config core.hooksPath .git/hooks',
    )
  // husky has its own hooks in the folder `_`, which run those of the folder above.
  return { path: path.replace(/([\\/])_[\\/](?=pre-push$)/, '$1'), setIn }
}

/**
 * Installs or updates the hook with the text `wanted`, or removes it where that is undefined, and returns the exit
 * code 0. Throws a `refused` error if another hook exists, a usage error outside a checkout, and an `output` error
 * if the hook cannot be written.
 */
async function changeHook(wanted: string | undefined, failClosed: boolean, cli: Cli): Promise<number> {
  const { host, printer } = cli
  const { files } = host
  const path = await findHookPath(host)
  const printResult = async (did: string, sentence: string) => {
    const record = { hook: path, did }
    await printer.print({ ...singleRecord(record), columns: hookColumns, screen: () => ({ sentence }) })
    return 0
  }
  const other = wanted === undefined ? undefined : await findOtherHook(host, path)
  if (other !== undefined) return printLine(other, failClosed, cli)
  // A hook that cannot be read is one of another program.
  const existing = await files.read(path, 65_536).catch(() => '')
  if (existing === wanted)
    return printResult(
      'nothing',
      wanted === undefined
        ? `No guard is installed in ${path}.`
        : `The guard is already installed in ${path}.`,
    )
  if (existing !== undefined && !existing.includes(`\n${hookMarker}`))
    throw new MergeqError('refused', `${path} was not installed by mergeq; left unchanged.`, {
      hint:
        wanted === undefined
          ? 'If a line of the hook calls `mergeq guard`, remove that line.'
          : `Add this line to the hook. ${howToAdd}\n${lineToAdd(failClosed)}`,
    })
  if (cli.options.dryRun) {
    const would =
      wanted === undefined
        ? `remove the guard from ${path}`
        : `${existing === undefined ? 'install' : 'update'} the guard in ${path}`
    return printPreview(`Would ${would}.`, cli)
  }
  if (wanted === undefined) {
    await files.remove(path)
    return printResult('removed', `Removed the guard from ${path}.`)
  }
  try {
    await files.createDirectory(parentDirectory(path))
    await files.replace(path, wanted, 0o755)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new MergeqError('output', `${path} could not be written: ${reason}.`, {
      hint: `Check the permissions of the directory and of ${path}.`,
    })
  }
  return printResult('installed', `Installed the guard in ${path}; git runs it before each push.`)
}

/** Prints the line to add to a hook that another program manages; writes nothing. */
async function printLine(
  { path: hook, setIn }: OtherHook,
  failClosed: boolean,
  { host, printer }: Pick<Cli, 'host' | 'printer'>,
): Promise<number> {
  const existing = (await host.files.read(hook, 65_536).catch(() => undefined)) ?? ''
  const isThere = existing.includes('mergeq guard hook')
  const line = lineToAdd(failClosed)
  const record = { hook, did: 'nothing', line: isThere ? null : line, setIn }
  const sentence = isThere
    ? `${hook} already calls the guard.`
    : `core.hooksPath is set in ${setIn}: nothing was written. Add this line to ${hook}:`
  await printer.print({
    ...singleRecord(record),
    columns: isThere ? hookColumns : [...hookColumns, ...lineColumns],
    screen: () => ({ heading: isThere ? [sentence] : [sentence, line, howToAdd] }),
  })
  return 0
}

export const installHook = (failClosed: boolean, cli: Cli): Promise<number> =>
  changeHook(renderHook(failClosed), failClosed, cli)

export const uninstallHook = (cli: Cli): Promise<number> => changeHook(undefined, false, cli)
