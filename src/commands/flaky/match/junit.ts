import sax from 'sax'
import { usageError } from '../../../base/errors.ts'
import { formatBytes, formatInteger } from '../../../values/format.ts'
import { JUnitDocument, type JUnitResults } from './junit-document.ts'

/** Upper limit for names, attributes and comments, in characters; text between tags has no limit. */
const maxTextLength = 1024 * 1024

Object.assign(sax, { MAX_BUFFER_LENGTH: maxTextLength })

const maxFileSize = 256 * 1024 * 1024
const maxFailedTests = 200_000
const maxDepth = 200

/** The characters that are parsed at a time: of a longer declaration (`<!...>`), the parser needs more than linear time. */
const pieceLength = 1_024

/** Malformed XML is an error, and only the entities of XML itself and those below are known. */
const parserOptions = { strictEntities: true, position: true }

/**
 * References to characters that XML 1.0 forbids and test runners write: control characters, which XML 1.1 allows, and
 * the halves of a character outside of the basic plane.
 */
const forbiddenCharacters = Object.fromEntries(
  [
    ...Array(32).keys(),
    ...Array.from({ length: 0x800 }, (_, index) => 0xd800 + index),
    0xfffe,
    0xffff,
  ].flatMap(code =>
    [`#${code}`, `#x${code.toString(16)}`].map(reference => [reference, String.fromCharCode(code)]),
  ),
)

/** Ends the reading of a file that is no JUnit XML. */
const otherFile = new Error('another XML file')

const fileHint = 'Use a JUnit XML file from a test runner.'
const truncatedHint = 'The test run may have stopped before it wrote all results.'

/**
 * Parses a JUnit XML file as a stream: only the failed tests are kept in memory. Several documents may follow each other;
 * undefined for a file of a directory that is no JUnit XML. Throws a usage error that names file and line if the file is
 * not XML, is truncated, or contains something else than JUnit XML.
 *
 * @param isListed whether the file was not named, but found in a directory, where other XML files are no error
 */
export async function parseJUnit(
  bytes: AsyncIterable<Uint8Array>,
  file: string,
  isListed = false,
): Promise<readonly JUnitResults[] | undefined> {
  const parser = sax.parser(true, parserOptions)
  Object.assign(parser.ENTITIES, forbiddenCharacters)
  const documents: JUnitResults[] = []
  let document: JUnitDocument | undefined
  let attributes: Record<string, string> = {}
  let failedBefore = 0
  const error = (problem: string, hint = fileHint) =>
    usageError(`${file}: line ${parser.line + 1}: ${problem}.`, hint)

  parser.onattribute = ({ name, value }) => {
    attributes[name] = value
  }
  parser.onopentag = ({ name }) => {
    const tag = name.slice(name.lastIndexOf(':') + 1)
    if (document === undefined) {
      if (!/^testsuites?$/.test(tag)) {
        if (isListed && documents.length === 0) throw otherFile
        throw error(`not JUnit XML: the root element is <${tag}>, not <testsuites> or <testsuite>`)
      }
      document = new JUnitDocument()
      // The parser refuses text in a second document unless it has forgotten the end of the first.
      Object.assign(parser, { closedRoot: false })
    }
    if (document.depth >= maxDepth) throw error(`more than ${maxDepth} levels of elements`)
    document.start(tag, attributes)
    attributes = {}
  }
  parser.onclosetag = () => {
    document?.end()
    if (failedBefore + (document?.failedTests ?? 0) > maxFailedTests)
      throw error(`more than ${formatInteger(maxFailedTests)} failed tests`)
    if (document?.depth !== 0) return
    failedBefore += document.failedTests
    documents.push(document.results())
    document = undefined
  }
  parser.onsgmldeclaration = () => {
    throw error('invalid XML: a declaration outside of a document type')
  }
  parser.onerror = ({ message }) => {
    const [problem = ''] = message.split('\n')
    // A second document may have a byte order mark and a document type of its own.
    const mayBegin = /^Text data outside.*\uFEFF$|^Inappropriately located doctype/s.test(message)
    if (mayBegin && document === undefined && documents.length > 0) parser.resume()
    else if (problem.startsWith('Max buffer'))
      throw error(`a name, attribute or comment is longer than ${formatBytes(maxTextLength)}`)
    else if (/^Un(closed root|expected end)/.test(problem))
      throw error('the file is incomplete', truncatedHint)
    else throw error(`invalid XML: ${problem.replace(/\.$/, '')}`)
  }

  try {
    for await (const text of decode(limited(bytes, file), error))
      for (let from = 0; from < text.length; from += pieceLength) {
        parser.write(text.slice(from, from + pieceLength))
        if ('sgmlDecl' in parser && String(parser.sgmlDecl).length >= pieceLength)
          throw error('a declaration is too long')
      }
    parser.close()
  } catch (thrown) {
    if (thrown === otherFile) return undefined
    throw thrown
  }
  if (documents.length === 0) throw usageError(`${file} is empty.`, truncatedHint)
  return documents
}

async function* limited(bytes: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > maxFileSize) throw usageError(`${file} is larger than ${formatBytes(maxFileSize)}.`, fileHint)
    yield chunk
  }
}

/** How many bytes say what the encoding of a file is. */
const headLength = 256

async function* decode(
  bytes: AsyncIterable<Uint8Array>,
  error: (problem: string, hint: string) => Error,
): AsyncGenerator<string> {
  let decoder: InstanceType<typeof TextDecoder> | undefined
  let unread = Buffer.alloc(0)
  for await (const chunk of bytes) {
    unread = Buffer.concat([unread, chunk])
    if (decoder === undefined && unread.length < headLength) continue
    decoder ??= createDecoder(unread, error)
    yield decoder.decode(unread, { stream: true })
    unread = Buffer.alloc(0)
  }
  decoder ??= createDecoder(unread, error)
  yield decoder.decode(unread)
}

/**
 * Returns a decoder for the encoding of a file. The bytes say more than the declaration (XML 1.0, appendix F): a
 * byte order mark wins, and a declaration in 8-bit characters cannot mean UTF-16, though .NET may write so.
 */
function createDecoder(bytes: Buffer, error: (problem: string, hint: string) => Error) {
  const start = bytes.toString('latin1', 0, headLength)
  if (start.startsWith('\u00EF\u00BB\u00BF')) return new TextDecoder('utf-8')
  if (start.startsWith('\u00FF\u00FE') || start.startsWith('<\0')) return new TextDecoder('utf-16le')
  if (start.startsWith('\u00FE\u00FF') || start.startsWith('\0<')) return new TextDecoder('utf-16be')
  const [, label = 'utf-8'] = /^<\?xml[^>]*?encoding\s*=\s*["']([^"']*)/.exec(start) ?? []
  try {
    const declared = new TextDecoder(label)
    return declared.encoding.startsWith('utf-16') ? new TextDecoder('utf-8') : declared
  } catch {
    throw error(`unknown encoding '${label}'`, 'Save the file as UTF-8.')
  }
}
