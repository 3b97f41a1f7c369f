import { MergeqError, usageError } from '../../../base/errors.ts'
import { escapeInvisible } from '../../../base/json.ts'
import type { Cli } from '../../../command/command.ts'

export const outputError = (path: string, error: Error): MergeqError =>
  new MergeqError('output', `${path} could not be written: ${error.message}.`, {
    hint: 'Existing files are unchanged. Check the directory and the free disk space.',
  })

/** The file of `--record`, which nobody else may write between the start of a command and its first change. */
export interface RecordFile {
  readonly path: string
  /** Whether there was a file when the command began. */
  readonly wasThere: boolean
  /** Creates or replaces the file. Throws a usage error if it is not the one that this command knows. */
  write(rows: readonly object[]): Promise<void>
}

export async function openRecordFile(path: string, { host: { files } }: Cli): Promise<RecordFile> {
  let known = await files.version(path)
  const otherError = () =>
    usageError(
      `${path} was written by another command meanwhile.`,
      'Use another file, or wait until that command has ended.',
    )
  return {
    path,
    wasThere: known !== undefined,
    async write(rows) {
      const text = `${escapeInvisible(JSON.stringify(rows, null, 2))}\n`
      if ((await files.version(path)) !== known) throw otherError()
      const written = known === undefined ? files.create(path, text) : files.replace(path, text)
      await written.catch((error: Error) => {
        throw 'code' in error && error.code === 'EEXIST' ? otherError() : outputError(path, error)
      })
      known = await files.version(path)
    },
  }
}

/** Writes a record after the changes: an error is a warning with what it means, and hides no result. */
export const correctRecord = (write: Promise<void>, meaning: string, { logger }: Cli): Promise<void> =>
  write.catch(({ message }: Error) => logger.warn(`${message} ${meaning}`))
