import sax from 'sax'
import { usageError } from '../../../errors.ts'
import { formatBytes } from '../../../output/view.ts'

/** A test that failed, as a JUnit XML file names it. */
export interface FailedTest {
  readonly name: string
  readonly classname: string | undefined
  /** The suites that it stands in, the innermost first. */
  readonly suites: readonly string[]
  readonly file: string | undefined
}

/** What a JUnit XML file holds: how many test cases, and those that failed. */
export interface JUnitResults {
  readonly cases: number
  readonly failed: readonly FailedTest[]
}

/** Larger files are refused, in bytes. */
export const maxFileSize = 256 * 1024 * 1024

/** A file that nests deeper, or a tag with more attributes, was written by no test runner. */
const deepest = 200
const maxAttributes = 200

/**
 * Longer names, attributes and comments are refused, in characters; text between tags may have any length.
 */
const longest = 1024 * 1024

/** The parser sees the text in pieces of so many characters: it checks lengths between them. */
const piece = 64 * 1024

Object.assign(sax, { MAX_BUFFER_LENGTH: longest })

const hint = 'Name JUnit XML files as test runners write them.'

/**
 * Reads a JUnit XML file as it comes: memory grows by the failures in it and nothing else. Entities are never
 * expanded, nothing outside is ever read. What is no JUnit XML, is cut or is too large is a usage failure
 * that names the file and the line.
 */
export async function parseJUnit(bytes: AsyncIterable<Uint8Array>, file: string): Promise<JUnitResults> {
  const reader = openReader(file)
  let decoder: Decoder | undefined
  let read = 0
  for await (const chunk of bytes) {
    read += chunk.length
    if (read > maxFileSize)
      throw usageError(
        `${file} is larger than ${formatBytes(maxFileSize)}.`,
        'Name the files of the runs one by one.',
      )
    decoder ??= decoderFor(chunk, file)
    reader.take(decoder.decode(chunk, { stream: true }))
  }
  reader.take(decoder?.decode() ?? '')
  return reader.end()
}

type Decoder = InstanceType<typeof TextDecoder>

/** UTF-8, or what a byte order mark or the XML declaration names. */
function decoderFor(start: Uint8Array, file: string): Decoder {
  if (start[0] === 0xff && start[1] === 0xfe) return new TextDecoder('utf-16le')
  if (start[0] === 0xfe && start[1] === 0xff) return new TextDecoder('utf-16be')
  const head = new TextDecoder('latin1').decode(start.subarray(0, 200))
  const [, label = 'utf-8'] = /^(?:ï»¿)?<\?xml[^>]*?encoding\s*=\s*["']([^"']*)/.exec(head) ?? []
  try {
    return new TextDecoder(label)
  } catch {
    throw usageError(`${file}: line 1: there is no encoding '${label}'.`, 'Write it as UTF-8.')
  }
}

/** What stands open while a file is read. */
interface Open {
  readonly tag: string
  readonly name: string | undefined
  readonly classname: string | undefined
  readonly file: string | undefined
}

/** Strict: what is not well-formed is an error. Only the five entities of XML itself are known. */
const manner = { strictEntities: true, position: true }

const unfinished = 'Was the run that wrote it stopped? Then its failures are not all there.'

/** Takes the text of one file piece by piece; refuses it as soon as it is known to be no JUnit XML. */
function openReader(file: string) {
  const parser = sax.parser(true, manner)
  const open: Open[] = []
  const failed: FailedTest[] = []
  let [cases, attributes, isRead] = [0, 0, false]
  /** The case or suite whose failure was noted last: several failures of one test are one. */
  let noted: Open | undefined
  const refuse = (what: string, more = hint) => usageError(`${file}: line ${parser.line + 1}: ${what}.`, more)

  /** A failure counts where it stands: in a test, or in a suite that could not be set up. */
  const note = () => {
    const suites = open.filter(({ tag }) => tag === 'testsuite').toReversed()
    const at = open.findLast(({ tag }) => tag === 'testcase') ?? suites[0]
    if (at === undefined || at === noted) return
    noted = at
    failed.push({
      name: at.name ?? '',
      classname: at.classname,
      suites: suites.flatMap(({ name }) => name ?? []),
      file: [at, ...suites].find(one => one.file !== undefined)?.file,
    })
  }
  parser.onopentagstart = () => {
    attributes = 0
  }
  parser.onattribute = () => {
    if (++attributes > maxAttributes) throw refuse(`a tag has more than ${maxAttributes} attributes`)
  }
  parser.onopentag = ({ name: tag, attributes: said }) => {
    if (isRead) throw refuse('a second document begins', 'Keep each document in a file of its own.')
    if (open.length === 0 && tag !== 'testsuites' && tag !== 'testsuite')
      throw refuse(`this is no JUnit XML: it begins with <${tag}>, not with <testsuites> or <testsuite>`)
    if (open.length === deepest) throw refuse(`it is nested more than ${deepest} deep`)
    if (tag === 'failure' || tag === 'error') note()
    if (tag === 'testcase') cases++
    const value = (name: string): string | undefined => {
      const text = Object.hasOwn(said, name) ? said[name] : undefined
      return typeof text === 'string' && text !== '' ? text : undefined
    }
    const file = value('file') ?? value('filepath')
    open.push({ tag, name: value('name'), classname: value('classname'), file })
  }
  parser.onclosetag = () => {
    open.pop()
    isRead = open.length === 0
  }
  parser.ondoctype = doctype => {
    if (doctype.includes('<!ENTITY')) throw refuse('it declares entities, which are not expanded here')
  }
  parser.onerror = ({ message }) => {
    const [what = ''] = message.split('\n')
    // Runners write the control characters of a terminal as `&#27;`, which XML does not know; they matter to nobody.
    if (what === 'Invalid character entity' && entityOf(parser).startsWith('#')) parser.resume()
    else if (what.startsWith('Max buffer'))
      throw refuse(`something in it is longer than ${formatBytes(longest)}`)
    else if (/^Un(closed root|expected end)/.test(what))
      throw refuse('it ends before it is complete', unfinished)
    else throw refuse(`this is no XML: ${what.replace(/\.$/, '')}`)
  }
  return {
    take(text: string) {
      for (let from = 0; from < text.length; from += piece) parser.write(text.slice(from, from + piece))
    },
    end(): JUnitResults {
      parser.close()
      if (!isRead) throw usageError(`${file} is empty.`, unfinished)
      return { cases, failed }
    },
  }
}

/** The entity that is being read. */
const entityOf = (parser: object): string =>
  'entity' in parser && typeof parser.entity === 'string' ? parser.entity : ''
