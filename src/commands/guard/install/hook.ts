import { usageError } from '../../../base/errors.ts'
import type { Cli } from '../../../command/command.ts'
import type { Host } from '../../../host/host.ts'
import { singleRecord } from '../../../output/view.ts'
import { hookColumns, hookMarker, lineColumns, readGit } from '../shared/hook-file.ts'

/**
 * Returns the text of the hook. The hook runs mergeq from the PATH and blocks the push on its exit codes for a blocked
 * push and for signals. Any other exit code, such as of an older mergeq, an old Node or without mergeq, is said in one line
 * on each push, which continues unless `failClosed` is set. A shell with `-e` may run it.
 */
export const renderHook = (failClosed: boolean): string => {
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
export const lineToAdd = (failClosed: boolean): string =>
  `refs=$(cat); printf '%s\\n' "$refs" | mergeq guard hook${failClosed ? ' --fail-closed' : ''} -- "$@" || ${failClosed ? 'exit 1' : '[ $? -ne 21 ] || exit 1'}`

export const howToAdd =
  'It must be before any command that reads standard input; later commands can read that input from $refs.'

interface OtherHook {
  readonly path: string
  readonly setIn: string
}

/**
 * Returns the hook in which a line must be added because `core.hooksPath` leads git to other hooks than those of the
 * checkout; undefined if it is not set. Throws a usage error if it is set for other checkouts, too.
 */
export async function findOtherHook(host: Host, path: string): Promise<OtherHook | undefined> {
  const cwd = host.cwd ?? ''
  /** Returns where the setting comes from: `file:.git/config` for git, also where another file includes that one. */
  const readOrigin = async (...scope: string[]) => {
    const args = ['config', '--get', '--show-origin', '--includes', ...scope, 'core.hooksPath']
    return (await readGit(host, cwd, ...args))?.split('\t')[0]?.replace(/^file:/, '')
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

/** Prints the line to add to a hook that another program manages; writes nothing. */
export async function printLine(
  { path: hook, setIn }: OtherHook,
  failClosed: boolean,
  { host, printer }: Cli,
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
