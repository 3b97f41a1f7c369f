import { extended, type Infer, optional, ownRecord } from '../../../api/operations/fields.ts'
import { MergeqError, usageError } from '../../../base/errors.ts'
import type { Cli } from '../../../command/command.ts'
import { previewRecord } from '../../../command/dry-run.ts'
import { joinPath } from '../../../config/store.ts'
import { withoutTokens } from '../../../config/token-program.ts'
import type { Host } from '../../../host/host.ts'
import { columns, singleRecord } from '../../../output/view.ts'

export const hookMarker = '# mergeq guard:'

/** Runs git in a folder, with its settings for hooks. Returns its output without the final newline; undefined if it fails. */
export async function readGit(host: Host, folder: string, ...args: string[]): Promise<string | undefined> {
  const env = withoutTokens(host.env)
  const { code, out } = await host.git(['-C', folder, ...args], { env, timeout: 5_000 })
  return code === 0 ? out.replace(/\r?\n$/, '') : undefined
}

/** Returns the path where git looks for the hook. Throws a usage error outside a checkout. */
export async function findHookPath(host: Host): Promise<string> {
  // A relative `core.hooksPath` starts at the top of the work tree; a bare repository has no work tree.
  const { cwd } = host
  const root = cwd && ((await readGit(host, cwd, 'rev-parse', '--show-toplevel')) ?? cwd)
  const path = root && (await readGit(host, root, 'rev-parse', '--git-path', 'hooks/pre-push'))
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

/** Returns the text of the hook, if there is one; throws a `refused` error with advice for one of another program. */
export async function readHook(path: string, advice: string, { files }: Host): Promise<string | undefined> {
  // A hook that cannot be read is one of another program.
  const text = await files.read(path, 65_536).catch(() => '')
  if (text === undefined || text.includes(`\n${hookMarker}`)) return text
  throw new MergeqError('refused', `${path} was not installed by mergeq; left unchanged.`, { hint: advice })
}

export const hookColumns = columns('hook', 'did')
export const lineColumns = columns('line')

export const hookRecord = ownRecord({ hook: 'string', did: 'string' })

/** The same, with the line to add to the hook of another program, and the file that sets `core.hooksPath`. */
export const installedHookRecord = extended(hookRecord, {
  line: optional('string | null'),
  setIn: optional('string'),
})

export const shownHook = {
  records: [installedHookRecord, previewRecord],
  columns: [...hookColumns, ...lineColumns, ...columns('would')],
}

export async function printHook(
  hook: string,
  did: string,
  sentence: string,
  { printer }: Cli,
): Promise<number> {
  const record: Infer<typeof hookRecord> = { hook, did }
  await printer.print({ ...singleRecord(record), columns: hookColumns, screen: () => ({ sentence }) })
  return 0
}
