import sax from 'sax'
import { type MergeqError, usageError } from '../../../base/errors.ts'
import { formatBytes } from '../../../values/format.ts'

/** What is done with the elements of a file, with the line in which their tag ends. */
export interface XmlHandler {
  /** `tag` is without the prefix of a namespace. */
  start(tag: string, attributes: Readonly<Record<string, string>>, line: number): void
  end(line: number): void
}

/** Upper limit for names, attributes and comments, in characters; text between tags has no limit. */
const maxTextLength = 1024 * 1024

Object.assign(sax, { MAX_BUFFER_LENGTH: maxTextLength })

const maxFileSize = 256 * 1024 * 1024
const maxDepth = 200
/** The most declarations (`<!...>`); of a long or repeated one, the parser needs more than linear time. */
const maxDeclarations = 100
/** The length of the pieces that are parsed between two checks of a declaration, in characters. */
const pieceLength = 4_096

/** Malformed XML is an error, and only the five entities of XML itself are known. */
const parserOptions = { strictEntities: true, position: true }

export const xmlError = (
  file: string,
  line: number,
  problem: string,
  hint = 'Use a JUnit XML file from a test runner.',
): MergeqError => usageError(`${file}: line ${line}: ${problem}.`, hint)

const truncatedHint = 'The test run may have stopped before it wrote all results.'

/**
 * Reads an XML file as a stream. Several documents may follow each other. Entities are not expanded, and no external
 * resource is read. Throws a usage error that names file and line if the file is not XML, or if its last document is
 * truncated; and what the handler throws.
 */
export async function readXml(
  bytes: AsyncIterable<Uint8Array>,
  file: string,
  handler: XmlHandler,
): Promise<void> {
  const parser = sax.parser(true, parserOptions)
  let attributes: Record<string, string> = {}
  let [depth, declarations, hasRoot] = [0, 0, false]
  const error = (problem: string, hint?: string) => xmlError(file, parser.line + 1, problem, hint)

  parser.onattribute = ({ name, value }) => {
    attributes[name] = value
  }
  parser.onopentag = ({ name }) => {
    if (depth >= maxDepth) throw error(`more than ${maxDepth} levels of elements`)
    // The parser refuses text in a second document unless it has forgotten the end of the first.
    if (depth === 0) Object.assign(parser, { closedRoot: false })
    depth++
    hasRoot = true
    handler.start(name.slice(name.lastIndexOf(':') + 1), attributes, parser.line + 1)
    attributes = {}
  }
  parser.onclosetag = () => {
    depth--
    handler.end(parser.line + 1)
  }
  parser.onsgmldeclaration = () => {
    declarations++
    if (declarations > maxDeclarations) throw error(`more than ${maxDeclarations} declarations`)
  }
  parser.onerror = ({ message }) => {
    const [problem = ''] = message.split('\n')
    const isBetween = hasRoot && depth === 0
    const isMark = 'c' in parser && parser.c === '\uFEFF' && problem.startsWith('Text data outside')
    const isDoctype = problem.startsWith('Inappropriately located doctype')
    // A second document may have a byte order mark and a document type of its own.
    if (isBetween && (isMark || isDoctype)) {
      declarations++
      if (declarations > maxDeclarations) throw error(`more than ${maxDeclarations} declarations`)
      parser.resume()
    } else if (problem.startsWith('Max buffer'))
      throw error(`a name, attribute or comment is longer than ${formatBytes(maxTextLength)}`)
    else if (/^Un(closed root|expected end)/.test(problem))
      throw error('the file is incomplete', truncatedHint)
    else throw error(`invalid XML: ${problem.replace(/\.$/, '')}`)
  }

  let rest = ''
  for await (const text of decode(bytes, file)) {
    for (let from = 0; from < text.length; from += pieceLength) {
      const piece = rest + text.slice(from, from + pieceLength)
      const end = endOfReferences(piece)
      rest = piece.slice(end)
      parser.write(readForbidden(piece.slice(0, end)))
      if ('sgmlDecl' in parser && String(parser.sgmlDecl).length > pieceLength)
        throw error('a declaration is too long')
    }
  }
  parser.write(rest).close()
  if (!hasRoot) throw usageError(`${file} is empty.`, truncatedHint)
}

/** Returns where a piece is cut so that it does not end within a character reference. */
function endOfReferences(piece: string): number {
  const start = piece.lastIndexOf('&')
  const isOpen = start > piece.lastIndexOf(';') && piece.length - start < 10
  return isOpen ? start : piece.length
}

/**
 * Reads the references to characters that XML 1.0 forbids and test runners write: control characters, which XML 1.1
 * allows, and the halves of a character outside of the basic plane. The parser refuses them.
 */
function readForbidden(text: string): string {
  return text.replace(/&#(?:x([\da-f]{1,6})|(\d{1,7}));/gi, (reference, hex, decimal) => {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    const isControl = code < 32 && ![9, 10, 13].includes(code)
    const isSurrogate = code >= 0xd800 && code <= 0xdfff
    return isControl || isSurrogate || code === 0xfffe || code === 0xffff
      ? String.fromCharCode(code)
      : reference
  })
}

/** How many bytes say what the encoding of a file is. */
const headLength = 256

async function* decode(bytes: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<string> {
  let head = new Uint8Array()
  let decoder: InstanceType<typeof TextDecoder> | undefined
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > maxFileSize)
      throw usageError(
        `${file} is larger than ${formatBytes(maxFileSize)}.`,
        'Use the report of one test run.',
      )
    if (decoder !== undefined) {
      yield decoder.decode(chunk, { stream: true })
      continue
    }
    head = Uint8Array.from([...head, ...chunk.subarray(0, headLength)])
    if (head.length < headLength) continue
    decoder = createDecoder(head, file)
    yield decoder.decode(head, { stream: true })
    yield decoder.decode(chunk.subarray(headLength), { stream: true })
  }
  yield decoder === undefined ? createDecoder(head, file).decode(head) : decoder.decode()
}

/**
 * Returns a decoder for the encoding of a file. The bytes say more than the declaration (XML 1.0, appendix F): a
 * byte order mark wins, and a declaration in 8-bit characters cannot mean UTF-16, though .NET may write so.
 */
function createDecoder(head: Uint8Array, file: string) {
  const start = String.fromCharCode(...head)
  if (start.startsWith('\u00EF\u00BB\u00BF')) return new TextDecoder('utf-8')
  if (start.startsWith('\u00FF\u00FE') || start.startsWith('<\0')) return new TextDecoder('utf-16le')
  if (start.startsWith('\u00FE\u00FF') || start.startsWith('\0<')) return new TextDecoder('utf-16be')
  const [, label = 'utf-8'] = /^<\?xml[^>]*?encoding\s*=\s*["']([^"']*)/.exec(start) ?? []
  try {
    const declared = new TextDecoder(label)
    return declared.encoding.startsWith('utf-16') ? new TextDecoder('utf-8') : declared
  } catch {
    throw xmlError(file, 1, `unknown encoding '${label}'`, 'Save the file as UTF-8.')
  }
}
