import { MergeqError, usageError } from '../../../base/errors.ts'
import { escapeInvisible } from '../../../base/json.ts'
import type { Cli } from '../../../command/command.ts'
import { parseRepository, repositoryKey } from '../../../values/repository.ts'

/** Waits until a file is written. Its error is an `output` error. */
export const orOutputError = (path: string, written: Promise<void>): Promise<void> =>
  written.catch((error: Error) => {
    throw new MergeqError('output', `${path} could not be written: ${error.message}.`, {
      hint: 'Existing files are unchanged. Check the directory and the free disk space.',
    })
  })

/**
 * The file of `--record`, which nobody else may write between the start of a command and its first change. Without a path
 * nothing is written.
 */
export interface RecordFile {
  readonly path: string | undefined
  /** Whether there was a file when the command began. */
  readonly wasThere: boolean
  /** Creates or replaces the file. Throws a usage error if it is not the one that this command knows. */
  write(rows: readonly object[]): Promise<void>
  /** Writes it after the changes: an error is a warning with what it means, and hides no result. */
  correct(rows: readonly object[], meaning: string): Promise<void>
}

export async function openRecordFile(path: string | undefined, { host, logger }: Cli): Promise<RecordFile> {
  const { files } = host
  let known = path === undefined ? undefined : await files.version(path)
  async function write(rows: readonly object[]): Promise<void> {
    if (path === undefined) return
    const otherError = usageError(
      `${path} was written by another command meanwhile.`,
      'Use another file, or wait until that command has ended.',
    )
    const text = `${escapeInvisible(JSON.stringify(rows, null, 2))}\n`
    if ((await files.version(path)) !== known) throw otherError
    const written = known === undefined ? files.create(path, text) : files.replace(path, text)
    await written.catch((error: Error) => {
      if ('code' in error && error.code === 'EEXIST') throw otherError
    })
    await orOutputError(path, written)
    known = await files.version(path)
  }
  return {
    path,
    wasThere: known !== undefined,
    write,
    correct: (rows, meaning) =>
      write(rows).catch(({ message }: Error) => logger.warn(`${message} ${meaning}`)),
  }
}

/** The name of a queue of a record in one spelling, to look it up. */
export const recordKey = ({
  repo,
  targetBranch,
}: Readonly<Record<'repo' | 'targetBranch', string>>): string =>
  `${repositoryKey(parseRepository(repo))}@${targetBranch}`
