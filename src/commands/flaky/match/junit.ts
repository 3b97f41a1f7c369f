import { formatInteger } from '../../../values/format.ts'
import { JUnitDocument, type JUnitResults } from './junit-document.ts'
import { readXml, xmlError } from './xml.ts'

const maxFailedTests = 200_000

const rootTags: readonly string[] = ['testsuites', 'testsuite']

/**
 * What Maven and TestNG write beside their JUnit XML files, by the root element: Failsafe a summary, TestNG the same
 * results in a form of its own.
 */
const otherRootTags: readonly string[] = ['failsafe-summary', 'testng-results']

/** What a file contains: its documents, or the root element of a report that repeats JUnit XML files. */
export type JUnitContent = { readonly documents: readonly JUnitResults[] } | { readonly otherRoot: string }

/**
 * Parses a JUnit XML file as a stream: only the failed tests are kept in memory. Throws a usage error that names
 * file and line if the file is not XML, is truncated, or contains something else than JUnit XML.
 *
 * @param isListed whether the file was not named, but found in a directory, where reports of Maven and TestNG that
 *   are not JUnit XML are no error
 */
export async function parseJUnit(
  bytes: AsyncIterable<Uint8Array>,
  file: string,
  isListed = false,
): Promise<JUnitContent> {
  const documents: JUnitResults[] = []
  let document: JUnitDocument | undefined
  let failed = 0
  for await (const events of readXml(bytes, file)) {
    for (const event of events) {
      if (document === undefined && event.type === 'start') {
        const { tag, line } = event
        if (isListed && documents.length === 0 && otherRootTags.includes(tag)) return { otherRoot: tag }
        if (!rootTags.includes(tag)) {
          const problem = `the root element is <${tag}>, not <testsuites> or <testsuite>`
          throw xmlError(file, line, `not JUnit XML: ${problem}`)
        }
        document = new JUnitDocument()
      }
      if (event.type === 'start') document?.start(event.tag, event.attributes)
      else document?.end()
      if (failed + (document?.failed.length ?? 0) > maxFailedTests)
        throw xmlError(file, event.line, `more than ${formatInteger(maxFailedTests)} failed tests`)
      if (document?.isWhole !== true) continue
      failed += document.failed.length
      documents.push(document.results())
      document = undefined
    }
  }
  return { documents }
}
