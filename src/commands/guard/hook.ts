import { joinPath, parentDirectory } from '../../config/store.ts'
import { withoutTokens } from '../../config/token-text.ts'
import { MergeqError, usageError } from '../../errors.ts'
import type { Host } from '../../host/host.ts'
import { columns, singleRecord } from '../../output/view.ts'
import type { Cli } from '../../run/cli.ts'
import { printPreview } from '../../run/dry-run.ts'

/** The comment that identifies the hook of mergeq. */
const hookMarker = '# mergeq guard:'

/**
 * Returns the text of the hook. The hook runs mergeq from the PATH and blocks the push only on its exit codes
 * for a blocked push and for signals. Any other failure, such as an old Node or a missing mergeq, lets the
 * push continue unless `failClosed` is set.
 */
const renderHook = (failClosed: boolean): string => `#!/bin/sh
${hookMarker} blocks pushes to queued pull requests; \`mergeq guard --uninstall\` removes this hook.
[ "$MERGEQ_GUARD" = off ] && exit 0
mergeq guard${failClosed ? ' --fail-closed' : ''} -- "$@"
case $? in
${
  failClosed
    ? '0) exit 0 ;;\n*) exit 1 ;;'
    : '21 | 129 | 130 | 143) exit 1 ;;\n127) echo "mergeq guard: mergeq is not on the PATH; the push continues." >&2 ;;'
}
esac
${failClosed ? '' : 'exit 0\n'}`

/** The line to add to another hook; it must run before that hook reads standard input. */
const lineToAdd = `refs=$(cat); printf '%s\\n' "$refs" | mergeq guard -- "$@" || [ $? -ne 21 ] || exit 1`

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

export const hookColumns = columns(['HOOK', 'hook', 'id'], ['RESULT', 'did'])

/**
 * Installs or updates the hook with the text `wanted`, or removes it where that is undefined, and returns the exit
 * code 0. Throws a `refused` error if another hook exists, a usage error outside a checkout, and an `output` error
 * if the hook cannot be written.
 */
async function changeHook(wanted: string | undefined, cli: Cli): Promise<number> {
  const { host, printer } = cli
  const { files } = host
  const path = await findHookPath(host)
  const printResult = async (did: string, sentence: string) => {
    const record = { hook: path, did }
    await printer.print({ ...singleRecord(record), columns: hookColumns, screen: () => ({ sentence }) })
    return 0
  }
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
          : `Add this line to the hook, before any command that reads standard input:\n${lineToAdd}\nLater commands can read that input from $refs.`,
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

export const installHook = (failClosed: boolean, cli: Cli): Promise<number> =>
  changeHook(renderHook(failClosed), cli)

export const uninstallHook = (cli: Cli): Promise<number> => changeHook(undefined, cli)
