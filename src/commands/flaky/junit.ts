import sax from 'sax'
import { formatBytes, formatInteger } from '../../domain/format.ts'
import { usageError } from '../../errors.ts'

/** A test that failed, as a JUnit XML file names it. */
export interface FailedTest {
  readonly name: string
  readonly classname: string | undefined
  /** The names of the suites that contain the test, innermost first. */
  readonly suites: readonly string[]
  readonly file: string | undefined
}

/** The results in a JUnit XML file: the number of test cases, and the tests that failed. */
export interface JUnitResults {
  readonly cases: number
  readonly failed: readonly FailedTest[]
  /** Why the run probably ended early, without a full stop: `it has an error outside of test cases`. */
  readonly problem: string | undefined
}

/** Upper limit for names, attributes and comments, in characters; text between tags has no limit. */
const maxTextLength = 1024 * 1024

Object.assign(sax, { MAX_BUFFER_LENGTH: maxTextLength })

const maxFileSize = 256 * 1024 * 1024
/** The most levels of elements. */
const maxDepth = 200
const maxFailedTests = 200_000
/** The most declarations (`<!...>`); of a long or repeated one, the parser needs more than linear time. */
const maxDeclarations = 100
/** The length of the pieces that are parsed between two checks of a declaration, in characters. */
const pieceLength = 4_096

/** Malformed XML is an error, and only the five entities of XML itself are known. */
const parserOptions = { strictEntities: true, position: true }

const truncatedHint = 'The test run may have stopped before it wrote all results.'

interface Element {
  readonly tag: string
  readonly name: string | undefined
  readonly classname: string | undefined
  readonly file: string | undefined
  /** How many failures and errors a suite says that it has. */
  readonly reported: number
  /** How many it has. */
  failures: number
  hasFailed: boolean
}

/**
 * Parses a JUnit XML file as a stream: only the failed tests are kept in memory. Entities are not expanded,
 * and no external resource is read. Throws a usage error that names file and line if the file is not JUnit
 * XML or is truncated.
 */
export async function parseJUnit(bytes: AsyncIterable<Uint8Array>, file: string): Promise<JUnitResults> {
  const parser = sax.parser(true, parserOptions)
  const openElements: Element[] = []
  const failed: FailedTest[] = []
  let [cases, declarations, hasRoot] = [0, 0, false]
  let problem: string | undefined
  const junitError = (problem: string, hint = 'Use a JUnit XML file from a test runner.') =>
    usageError(`${file}: line ${parser.line + 1}: ${problem}.`, hint)

  parser.onopentag = ({ name: tag, attributes }) => {
    if (openElements.length === 0 && tag !== 'testsuites' && tag !== 'testsuite')
      throw junitError(`not JUnit XML: the root element is <${tag}>, not <testsuites> or <testsuite>`)
    hasRoot = true
    if (openElements.length >= maxDepth) throw junitError(`more than ${maxDepth} levels of elements`)
    if (tag === 'testcase') cases++
    if (tag === 'failure' || tag === 'error') {
      // A failure outside of test cases is one of its suite, which could not be set up.
      const testCase = openElements.findLast(open => open.tag === 'testcase')
      if (testCase === undefined) problem = 'it has an error outside of test cases'
      const element = testCase ?? openElements.findLast(open => open.tag === 'testsuite')
      if (element !== undefined) {
        element.hasFailed = true
        element.failures++
      }
    }
    const read = (name: string): string | undefined => String(attributes[name] ?? '') || undefined
    openElements.push({
      tag,
      name: read('name'),
      classname: read('classname'),
      file: read('file') ?? read('filepath'),
      reported: (Number(read('failures')) || 0) + (Number(read('errors')) || 0),
      failures: 0,
      hasFailed: false,
    })
  }
  parser.onclosetag = () => {
    const element = openElements.pop()
    const parent = openElements.at(-1)
    if (element !== undefined && parent !== undefined) parent.failures += element.failures
    if (element !== undefined && element.reported > element.failures)
      problem ??= 'it reports more failures than it has test cases for'
    if (element?.hasFailed !== true) return
    if (failed.length >= maxFailedTests)
      throw junitError(`more than ${formatInteger(maxFailedTests)} failed tests`)
    const suites = [...openElements, element].filter(({ tag }) => tag === 'testsuite').toReversed()
    failed.push({
      name: element.name ?? '',
      classname: element.classname,
      suites: suites.flatMap(({ name }) => name ?? []),
      file: [element, ...suites].find(item => item.file !== undefined)?.file,
    })
  }
  parser.onsgmldeclaration = () => {
    declarations++
    if (declarations > maxDeclarations) throw junitError(`more than ${maxDeclarations} declarations`)
  }
  parser.onerror = ({ message }) => {
    const [problem = ''] = message.split('\n')
    // Test runners write terminal control characters as `&#27;`, which is invalid XML and safe to skip.
    if (problem === 'Invalid character entity' && currentEntity(parser).startsWith('#')) parser.resume()
    else if (problem.startsWith('Max buffer'))
      throw junitError(`a name, attribute or comment is longer than ${formatBytes(maxTextLength)}`)
    else if (/^Un(closed root|expected end)/.test(problem))
      throw junitError('the file is incomplete', truncatedHint)
    else throw junitError(`invalid XML: ${problem.replace(/\.$/, '')}`)
  }

  const parse = (text: string) => {
    for (let from = 0; from < text.length; from += pieceLength) {
      parser.write(text.slice(from, from + pieceLength))
      if ('sgmlDecl' in parser && String(parser.sgmlDecl).length > pieceLength)
        throw junitError('a declaration is too long')
    }
  }
  let decoder: Decoder | undefined
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > maxFileSize)
      throw usageError(
        `${file} is larger than ${formatBytes(maxFileSize)}.`,
        'Use the report of one test run.',
      )
    decoder ??= createDecoder(chunk, file)
    parse(decoder.decode(chunk, { stream: true }))
  }
  parser.write(decoder?.decode() ?? '').close()
  if (!hasRoot) throw usageError(`${file} is empty.`, truncatedHint)
  return { cases, failed, problem }
}

type Decoder = InstanceType<typeof TextDecoder>

/** Returns a decoder for the encoding that a byte order mark or the XML declaration names, else UTF-8. */
function createDecoder(start: Uint8Array, file: string): Decoder {
  if (start[0] === 0xff && start[1] === 0xfe) return new TextDecoder('utf-16le')
  if (start[0] === 0xfe && start[1] === 0xff) return new TextDecoder('utf-16be')
  const head = new TextDecoder('latin1').decode(start.subarray(0, 200))
  const [, label = 'utf-8'] = /^(?:ï»¿)?<\?xml[^>]*?encoding\s*=\s*["']([^"']*)/.exec(head) ?? []
  try {
    return new TextDecoder(label)
  } catch {
    throw usageError(`${file}: line 1: unknown encoding '${label}'.`, 'Save the file as UTF-8.')
  }
}

const currentEntity = (parser: object): string =>
  'entity' in parser && typeof parser.entity === 'string' ? parser.entity : ''
