import { formatInteger } from '../../../values/format.ts'
import { JUnitDocument, type JUnitResults } from './junit-document.ts'
import { readXml, type XmlHandler, xmlError } from './xml.ts'

const maxFailedTests = 200_000

/** Ends the reading of a file that is no JUnit XML. */
const otherFile = new Error('another XML file')

const rootTags: readonly string[] = ['testsuites', 'testsuite']

/** The documents of a file; undefined for a file of a directory that is no JUnit XML. */
type JUnitContent = readonly JUnitResults[] | undefined

/**
 * Parses a JUnit XML file as a stream: only the failed tests are kept in memory. Throws a usage error that names
 * file and line if the file is not XML, is truncated, or contains something else than JUnit XML.
 *
 * @param isListed whether the file was not named, but found in a directory, where other XML files are no error
 */
export async function parseJUnit(
  bytes: AsyncIterable<Uint8Array>,
  file: string,
  isListed = false,
): Promise<JUnitContent> {
  const documents: JUnitResults[] = []
  let document: JUnitDocument | undefined
  let failed = 0
  const handler: XmlHandler = {
    start(tag, attributes, line) {
      if (document === undefined && !rootTags.includes(tag)) {
        if (isListed && documents.length === 0) throw otherFile
        const problem = `the root element is <${tag}>, not <testsuites> or <testsuite>`
        throw xmlError(file, line, `not JUnit XML: ${problem}`)
      }
      document ??= new JUnitDocument()
      document.start(tag, attributes)
    },
    end(line) {
      document?.end()
      if (failed + (document?.failedTests ?? 0) > maxFailedTests)
        throw xmlError(file, line, `more than ${formatInteger(maxFailedTests)} failed tests`)
      if (document?.isWhole !== true) return
      failed += document.failedTests
      documents.push(document.results())
      document = undefined
    },
  }
  try {
    await readXml(bytes, file, handler)
    return documents
  } catch (error) {
    if (error === otherFile) return undefined
    throw error
  }
}
