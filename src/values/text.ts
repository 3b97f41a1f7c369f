import { usageError } from '../base/errors.ts'
import { formatBytes } from './format.ts'
import { suggestName } from './similar-name.ts'

export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** What may be before the text of a file: ASCII white space, and the byte order mark that editors on Windows write. */
export const beforeText = /^[\t\n\v\f\r ]*\uFEFF?[\t\n\v\f\r ]*/

export const isBlank = (text: string): boolean => text.replace(beforeText, '') === ''

/** Whether a text has invisible characters, other than the joiners of emoji, or white space at its start or end. */
const hasHiddenCharacters = (text: string): boolean =>
  // Compiling the pattern with properties takes 1.8 ms of a request.
  !/^[!-~]+(?: +[!-~]+)*$/.test(text) &&
  /(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]|^\s|\s$/u.test(text)

/** Returns a parser of texts that are not empty, and have no invisible characters and no white space around them. */
export const textParser =
  (valueName: string) =>
  (text: string): string => {
    if (text === '') throw usageError(`The ${valueName} must not be empty.`)
    if (hasHiddenCharacters(text))
      throw usageError(`The ${valueName} has leading or trailing white space, or invisible characters.`)
    return text
  }

/** Returns the name of a branch, which may be given as a ref: `main` for `refs/heads/main`. */
export const branchName = (text: string): string => text.replace(/^refs\/heads\//, '')

/** Returns a parser of the name or the ref of a branch; see `textParser`. */
export const branchParser =
  (valueName: string) =>
  (text: string): string =>
    textParser(valueName)(branchName(text))

/** Returns a parser of one of the choices in any case, which it returns as `choices` spells it. */
export const choiceParser =
  <const C extends string>(choices: readonly C[]) =>
  (text: string): C => {
    const choice = choices.find(candidate => candidate.toLowerCase() === text.toLowerCase())
    if (choice === undefined)
      throw usageError(
        `'${text}' is not valid; must be one of: ${choices.join(', ')}.`,
        suggestName(text, choices),
      )
    return choice
  }

const strictDecoder = new TextDecoder('utf-8', { fatal: true })

/** Decodes UTF-8, without a mark at its start; undefined for bytes that are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** Whether a text that was decoded as UTF-8 is UTF-16: it has its mark, or is ASCII with every second byte zero. */
export const isUtf16 = (text: string): boolean => /^(?:\uFFFD\uFFFD|[^\0]\0[^\0]\0|\0[^\0]\0[^\0])/.test(text)

/** Throws a usage error for a text that is UTF-16: Windows PowerShell writes it with `>`. */
export function refuseUtf16(text: string, name: string): void {
  if (isUtf16(text))
    throw usageError(
      `${name} is encoded as UTF-16, not UTF-8.`,
      'Save the text as UTF-8. In PowerShell: ... | Out-File -Encoding utf8 <file>',
    )
}

/** Returns a decoded text without the byte order mark of editors on Windows. Throws a usage error for UTF-16. */
export function requireUtf8(text: string, name: string): string {
  refuseUtf16(text, name)
  return text.replace(/^\uFEFF/, '')
}

/** Reads UTF-8. Throws a usage error, which begins with `name`, for UTF-16 and for more than `maxBytes`. */
export const readText = async (
  ...[chunks, name, maxBytes]: Parameters<typeof readWholeText>
): Promise<string> => requireUtf8(await readWholeText(chunks, name, maxBytes), name)

/** Reads a text as `readText` does, with the byte order mark before it. */
export async function readWholeText(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let [text, bytesRead] = ['', 0]
  for await (const chunk of chunks) {
    bytesRead += chunk.length
    if (bytesRead > maxBytes)
      throw usageError(`${name} is too long: at most ${formatBytes(maxBytes)} are read.`)
    text += decoder.decode(chunk, { stream: true })
  }
  const whole = text + decoder.decode()
  refuseUtf16(whole, name)
  return whole
}
