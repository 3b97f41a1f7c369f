import { usageError } from '../base/errors.ts'
import { isPullRequestReference } from './pull-request.ts'
import { namesHost } from './repository.ts'

const idPattern = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?:-bisection[\w.-]*)?/gi

/** Whether a text is the address of a page which is not that of a pull request. */
export const isOtherAddress = (text: string): boolean =>
  (text.includes('://') || (namesHost(text) && text.includes('/'))) && !isPullRequestReference(text)

/** Returns the ID of the test run in an address. Throws a usage error if there is none, or more than one. */
export function testRunInAddress(address: string): string {
  const [id, ...others] = new Set(address.match(idPattern))
  if (id !== undefined && others.length === 0) return id
  throw usageError(
    `'${address}' is the URL of neither a pull request nor a test run.`,
    'Use the URL of a pull request, or a URL with the ID of one test run.',
  )
}
