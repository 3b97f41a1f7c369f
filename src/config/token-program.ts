import { usageError } from '../base/errors.ts'
import type { Environment, Host, LineResult } from '../host/host.ts'
import { shorten } from '../values/format.ts'
import { maxTokenFileSize } from '../values/limits.ts'
import { isBlank, isUtf16 } from '../values/text.ts'

/** Returns the environment without tokens (docs/reference/network.md, "Child processes"). */
export const withoutTokens = (env: Environment): Environment =>
  Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => !/^(?:MERGEQ_TOKEN(?:_FILE|_COMMAND)?|TRUNK_API_TOKEN)$/i.test(name),
    ),
  )

const inShell = 'To see what it says, run the command in a shell.'

const maxLines = 20
const maxLineLength = 200

function whatItSaid({ err = '' }: LineResult): string {
  const lines = err.split(/\r?\n/).filter(text => text.trim() !== '')
  if (lines.length === 0) return inShell
  return ['It said:', ...lines.slice(-maxLines).map(text => shorten(text, maxLineLength))].join('\n')
}

/**
 * Returns the first line that a program prints. The program gets no token in its environment, and a mergeq that it
 * starts runs no such program. Throws a usage error that names the program, never its arguments.
 *
 * @param place the setting that has the command, and where it stands
 * @param reading a line is read again that was not read after `after`, for at most `time` milliseconds
 */
export async function runTokenProgram(
  words: readonly string[],
  place: string,
  { env, interrupted, readLine }: Pick<Host, 'env' | 'interrupted' | 'readLine'>,
  { after, time }: { readonly after?: number | undefined; readonly time: number },
): Promise<string> {
  const program = `${place}: the program ${words[0]}`
  if (time === 0) throw usageError(`${program} is not run for this.`)
  const result = await readLine(words, {
    env: { ...withoutTokens(env), MERGEQ_TOKEN_COMMAND: 'off' },
    timeout: time,
    maxBytes: maxTokenFileSize,
    after,
    interrupted,
  })
  interrupted.throwIfAborted()
  const { code, line, startError, timedOut } = result
  if (startError === 'ENOENT')
    throw usageError(
      `${program} was not found.`,
      'Use the absolute path of a program, or the name of one in a folder of PATH.',
    )
  if (startError !== undefined)
    throw usageError(`${program} cannot be started (${startError}).`, 'Check the permissions of its file.')
  const said = whatItSaid(result)
  if (timedOut === true)
    throw usageError(`${program} did not end in time.`, `It must print the token without a question. ${said}`)
  if (code !== 0) throw usageError(`${program} ended with exit code ${code}.`, said)
  if (isUtf16(line)) throw usageError(`${program} printed UTF-16, not UTF-8.`)
  if (isBlank(line)) throw usageError(`${program} printed no token in its first line.`, said)
  return line
}
