import type { CommandContext } from '../../cli/context.ts'
import { printPreview } from '../../cli/preview.ts'
import { withoutTokens } from '../../config/git.ts'
import { MergeqError, usageError } from '../../errors.ts'
import type { Host } from '../../host/host.ts'

const mark = '# mergeq guard:'

/**
 * The hook: it asks mergeq, found by its name, and stops the push only when that says so. Whatever else goes
 * wrong, an old Node or a missing mergeq included, lets the push go on, unless it was installed to be strict.
 */
const hookText = (isStrict: boolean): string => `#!/bin/sh
${mark} keeps a push from taking a pull request out of the merge queue; \`mergeq guard --uninstall\` removes it.
[ "$MERGEQ_GUARD" = off ] && exit 0
mergeq guard${isStrict ? ' --fail-closed' : ''} -- "$@"
case $? in
${
  isStrict
    ? '0) exit 0 ;;\n*) exit 1 ;;'
    : '21 | 129 | 130 | 143) exit 1 ;;\n127) echo "mergeq guard: there is no mergeq on the PATH; the push goes on." >&2 ;;'
}
esac
${isStrict ? '' : 'exit 0\n'}`

/** What to add to a hook that is not ours: it asks before the rest of that hook takes standard input. */
const lineToAdd = `refs=$(cat); printf '%s\\n' "$refs" | mergeq guard -- "$@" || [ $? -ne 21 ] || exit 1`

async function git(host: Host, folder: string, ...words: readonly string[]): Promise<string | undefined> {
  const { code, out } = await host.spawn('git', ['-C', folder, 'rev-parse', ...words], {
    env: withoutTokens(host.env),
    cwd: '/',
    output: 'capture',
    timeout: 5_000,
  })
  return code === 0 ? out.replace(/\r?\n$/, '') : undefined
}

/** Where git looks for the hook: in the folder that all worktrees share, or where `core.hooksPath` says. */
async function hookPath(host: Host): Promise<string> {
  // From the top: a `core.hooksPath` that is not absolute counts from there. A bare repository has none.
  const { cwd } = host
  const top = cwd && ((await git(host, cwd, '--show-toplevel')) ?? cwd)
  const path = top && (await git(host, top, '--git-path', 'hooks/pre-push'))
  if (path === undefined)
    throw usageError('There is no git checkout here.', 'Run it in the checkout that you push from.')
  return /^(?:\/|[A-Za-z]:)/.test(path) ? path : `${top}/${path}`
}

/** Tells what was done, as a sentence and for a script. */
async function tell(
  did: string,
  path: string,
  sentence: string,
  { printer }: CommandContext,
): Promise<number> {
  await printer.print({
    records: [{ hook: path, did }],
    document: ([one = {}]) => one,
    shape: () => ({
      columns: [
        { title: 'HOOK', format: 'id' },
        { title: 'DID', format: 'plain' },
      ],
      rows: [[path, did]],
      sentence,
    }),
  })
  await printer.end()
  return 0
}

const isOurs = (text: string): boolean => text.includes(`\n${mark}`)

/** The hook that stands there; one that cannot be read counts as somebody else's. */
async function standing(path: string, { files }: Host): Promise<string | undefined> {
  return files.read(path, 65_536).catch(() => '')
}

/**
 * Installs the hook where git looks for it. One that is not ours is never touched: the failure says what to
 * add to it.
 */
export async function install(isStrict: boolean, context: CommandContext): Promise<number> {
  const { files } = context.host
  const path = await hookPath(context.host)
  const before = await standing(path, context.host)
  const text = hookText(isStrict)
  if (before === text) return tell('nothing', path, `The guard is installed already, in ${path}.`, context)
  if (before !== undefined && !isOurs(before))
    throw new MergeqError('refused', `${path} is a hook of somebody else; it was left as it is.`, {
      hint: `Add this line to it, before anything that reads standard input:\n${lineToAdd}\nWhat reads it later finds it in $refs.`,
    })
  if (context.options.dryRun)
    return printPreview(
      'guard',
      `Would ${before === undefined ? 'install' : 'update'} the guard in ${path}.`,
      context,
    )
  try {
    await files.makeFolder(path.replace(/\/[^/]*$/, ''))
    if (before !== undefined) await files.remove(path)
    await files.makeProgram(path, text)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new MergeqError('output', `${path} could not be written: ${why}.`, {
      hint: 'Check the folder, and what stands there.',
    })
  }
  return tell('installed', path, `Installed the guard in ${path}: git asks it before each push.`, context)
}

/** Removes the hook, and no other. */
export async function uninstall(context: CommandContext): Promise<number> {
  const path = await hookPath(context.host)
  const before = await standing(path, context.host)
  if (before === undefined) return tell('nothing', path, `There is no guard in ${path}.`, context)
  if (!isOurs(before))
    throw new MergeqError('refused', `${path} is a hook of somebody else; it was left as it is.`, {
      hint: 'If a line of it calls `mergeq guard`, take that line out.',
    })
  if (context.options.dryRun) return printPreview('guard', `Would remove the guard from ${path}.`, context)
  await context.host.files.remove(path)
  return tell('removed', path, `Removed the guard from ${path}.`, context)
}
