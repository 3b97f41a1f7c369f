import { usageError, withName } from '../base/errors.ts'
import type { CapturedResult, Environment, Host } from '../host/host.ts'
import { shorten } from '../values/format.ts'
import { maxTokenFileSize } from '../values/limits.ts'
import { isBlank, isUtf16 } from '../values/text.ts'
import { isAbsolute } from './store.ts'

export type TokenHost = Pick<Host, 'clock' | 'env' | 'files' | 'interrupted' | 'readLine'>

export interface TokenReading {
  /** A program is run again that was not run after this time, in milliseconds since 1970. */
  readonly after?: number | undefined
  /** How long a pipe or a program may take, in milliseconds. */
  readonly time: number
}

export interface TokenSource {
  readonly kind: 'variable' | 'file' | 'program' | 'store'
  /** The variable, the file, the program, or the file with the stored settings. */
  readonly from: string
  /** The name of the source in messages: `MERGEQ_TOKEN`, `token-command (op)`. */
  readonly name: string
  /** Returns the text of the token. Throws a usage error for one that cannot be read. */
  read(reading: TokenReading): Promise<string>
}

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

function whatItSaid({ err = '' }: CapturedResult): string {
  const lines = err.split(/\r?\n/).filter(text => text.trim() !== '')
  if (lines.length === 0) return inShell
  return ['It said:', ...lines.slice(-maxLines).map(text => shorten(text, maxLineLength))].join('\n')
}

const commandHint =
  'For example: secret-tool lookup service mergeq\nWith blanks inside an argument, use a JSON array: ["pass","show","work/merge queue"]'

function wordsOf(text: string): readonly string[] {
  if (!text.startsWith('[')) {
    if (/["'`]/.test(text))
      throw usageError('No shell reads the command: quotes have no meaning in it.', commandHint)
    return text.split(/\s+/)
  }
  const invalid = usageError('The command is not a JSON array of strings.', commandHint)
  try {
    const words: unknown = JSON.parse(text)
    if (Array.isArray(words) && words.every(word => typeof word === 'string')) return words
  } catch {
    throw invalid
  }
  throw invalid
}

/** Parses the command line of a program: a JSON array, or words separated by blanks; nothing for `off`. */
export function parseTokenCommand(text: string): readonly string[] {
  const trimmed = text.trim()
  if (trimmed.toLowerCase() === 'off') return []
  const words = wordsOf(trimmed)
  const [program = ''] = words
  if (program.trim() === '' || words.some(word => word.includes('\0')))
    throw usageError('The command names no program.', commandHint)
  if (/[\\/]/.test(program) && !isAbsolute(program))
    throw usageError(
      'The program has a relative path.',
      'Use an absolute path, or the name of a program in a folder of PATH.',
    )
  return words
}

/**
 * Returns the program of a command line as the source of a token; undefined for `off`. Throws a usage error for a wrong
 * command line.
 *
 * @param setting the name of the setting that has the command line, and `place` where it stands
 */
export function programSource(
  text: string,
  setting: string,
  place: string,
  host: TokenHost,
): TokenSource | undefined {
  const words = withName(place, () => parseTokenCommand(text))
  const [program] = words
  if (program === undefined) return undefined
  const name = `${setting} (${program})`
  const read = (reading: TokenReading) => runProgram(words, place, host, reading)
  return { kind: 'program', from: program, name, read }
}

/**
 * Returns the first line that a program prints. The program gets no token in its environment, and a mergeq that it
 * starts runs no such program. Throws a usage error that names the program, never its arguments.
 */
async function runProgram(
  words: readonly string[],
  place: string,
  { env, interrupted, readLine }: TokenHost,
  { after, time }: TokenReading,
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
  const { code, out: line, startError, timedOut } = result
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
