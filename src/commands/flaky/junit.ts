import sax from 'sax'
import { formatBytes } from '../../domain/format.ts'
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
}

/** Upper limit for a JUnit XML file, in bytes. */
const maxFileSize = 256 * 1024 * 1024

/** Upper limits for nesting and for the attributes of a tag; no test runner writes more. */
const maxDepth = 200
const maxAttributes = 200

/** Upper limit for names, attributes and comments, in characters; text between tags has no limit. */
const maxTextLength = 1024 * 1024

/** Characters that the parser gets at a time; it checks lengths only between these chunks. */
const chunkSize = 64 * 1024

Object.assign(sax, { MAX_BUFFER_LENGTH: maxTextLength })

const defaultHint = 'Use a JUnit XML file from a test runner.'

/**
 * Parses a JUnit XML file as a stream: only the failed tests are kept in memory. Entities are not expanded,
 * and no external resource is read. Throws a usage error that names file and line if the file is not JUnit
 * XML, is truncated or is too large.
 */
export async function parseJUnit(bytes: AsyncIterable<Uint8Array>, file: string): Promise<JUnitResults> {
  const reader = createJUnitReader(file)
  let decoder: Decoder | undefined
  let bytesRead = 0
  for await (const chunk of bytes) {
    bytesRead += chunk.length
    if (bytesRead > maxFileSize)
      throw usageError(
        `${file} is larger than ${formatBytes(maxFileSize)}.`,
        'Use a separate file for each test run.',
      )
    decoder ??= createDecoder(chunk, file)
    reader.take(decoder.decode(chunk, { stream: true }))
  }
  reader.take(decoder?.decode() ?? '')
  return reader.end()
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

interface OpenElement {
  readonly tag: string
  readonly name: string | undefined
  readonly classname: string | undefined
  readonly file: string | undefined
}

/** Strict mode: malformed XML is an error, and only the five entities of XML itself are known. */
const parserOptions = { strictEntities: true, position: true }

const truncatedHint = 'The test run may have stopped before it wrote all results.'

/** Creates a reader for the text of a file, in chunks. It throws as soon as the text is not JUnit XML. */
function createJUnitReader(file: string) {
  const parser = sax.parser(true, parserOptions)
  const openElements: OpenElement[] = []
  const failed: FailedTest[] = []
  let [cases, attributes, isComplete] = [0, 0, false]
  /** The case or suite that was recorded last: several failures of a test count once. */
  let lastFailed: OpenElement | undefined
  const junitError = (problem: string, advice = defaultHint) =>
    usageError(`${file}: line ${parser.line + 1}: ${problem}.`, advice)

  /** Records the failed test case, or the suite if a failure is outside of test cases. */
  const recordFailure = () => {
    const suites = openElements.filter(({ tag }) => tag === 'testsuite').toReversed()
    const element = openElements.findLast(({ tag }) => tag === 'testcase') ?? suites[0]
    if (element === undefined || element === lastFailed) return
    lastFailed = element
    failed.push({
      name: element.name ?? '',
      classname: element.classname,
      suites: suites.flatMap(({ name }) => name ?? []),
      file: [element, ...suites].find(item => item.file !== undefined)?.file,
    })
  }
  parser.onopentagstart = () => {
    attributes = 0
  }
  parser.onattribute = () => {
    if (++attributes > maxAttributes) throw junitError(`a tag has more than ${maxAttributes} attributes`)
  }
  parser.onopentag = ({ name: tag, attributes: attributeValues }) => {
    if (isComplete) throw junitError('more than one XML document', 'Save each document in its own file.')
    if (openElements.length === 0 && tag !== 'testsuites' && tag !== 'testsuite')
      throw junitError(`not JUnit XML: the root element is <${tag}>, not <testsuites> or <testsuite>`)
    if (openElements.length === maxDepth)
      throw junitError(`elements are nested more than ${maxDepth} levels deep`)
    if (tag === 'failure' || tag === 'error') recordFailure()
    if (tag === 'testcase') cases++
    const value = (name: string): string | undefined => {
      const text = Object.hasOwn(attributeValues, name) ? attributeValues[name] : undefined
      return typeof text === 'string' && text !== '' ? text : undefined
    }
    const file = value('file') ?? value('filepath')
    openElements.push({ tag, name: value('name'), classname: value('classname'), file })
  }
  parser.onclosetag = () => {
    openElements.pop()
    isComplete = openElements.length === 0
  }
  parser.ondoctype = doctype => {
    if (doctype.includes('<!ENTITY')) throw junitError('entity declarations are not supported')
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
  return {
    take(text: string) {
      for (let from = 0; from < text.length; from += chunkSize)
        parser.write(text.slice(from, from + chunkSize))
    },
    end(): JUnitResults {
      parser.close()
      if (!isComplete) throw usageError(`${file} is empty.`, truncatedHint)
      return { cases, failed }
    },
  }
}

const currentEntity = (parser: object): string =>
  'entity' in parser && typeof parser.entity === 'string' ? parser.entity : ''
