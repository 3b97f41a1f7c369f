import { describe, expect, test } from 'vitest'
import { type SubmissionValues, submissionParams } from '../../src/api/operations/pull-requests.ts'
import { flagName } from '../../src/command/inputs.ts'
import { mergeq, noon, type Seen } from '../support/harness.ts'
import { clientOf, hostAt } from '../support/library-client.ts'
import { operations } from '../support/operations.ts'

/** A value for each param, as the library takes it. */
const values: SubmissionValues = operations.submitPullRequest.options
const names = Object.keys(submissionParams) as (keyof SubmissionValues)[]

/** A service whose pull request merges when it is submitted. */
function service() {
  let isSubmitted = false
  const sent: string[] = []
  const answer = ({ path, body }: Seen) => {
    const headers = { date: new Date(noon).toUTCString() }
    const isSubmission = path.endsWith('/submitPullRequest')
    if (isSubmission) sent.push(body)
    if (isSubmission) isSubmitted = true
    if (!path.endsWith('/getSubmittedPullRequest')) return isSubmission ? { headers } : { status: 404 }
    const record = { id: 'a', prNumber: 7, state: 'merged', isCurrentlySubmittedToQueue: false }
    return isSubmitted ? { headers, body: JSON.stringify(record) } : { status: 404, headers }
  }
  return { answer, sent }
}

const place = '-R acme/web -b main'

describe('every way to submit sends every param', () => {
  test.each(names)('%s', async name => {
    const value = values[name]
    expect(value, 'the example in test/support/operations.ts').toBeDefined()
    const typed = value === true ? flagName(name) : `${flagName(name)} ${value}`
    const bodies: Record<string, readonly string[]> = {}
    for (const line of ['pr submit 7', 'pr submit 7 --wait', 'pr land 7']) {
      const { answer, sent } = service()
      await mergeq(`${line} ${typed} ${place}`, { answer })
      bodies[line] = sent
      const { out } = await mergeq(`${line} ${typed} ${place} --dry-run -o ndjson`)
      bodies[`${line} --dry-run`] = [JSON.stringify(JSON.parse(out).body)]
    }
    const settings = { repo: 'acme/web', targetBranch: 'main' }
    for (const method of ['submitPullRequest', 'landPullRequests'] as const) {
      const { answer, sent } = service()
      const { client } = await clientOf(answer, settings, hostAt({ now: noon }))
      if (method === 'submitPullRequest') await client[method]({ pr: 7, [name]: value })
      else await client[method]({ prs: [7], [name]: value })
      bodies[method] = sent
    }
    const [first = ''] = bodies['pr submit 7'] ?? []
    expect(JSON.parse(first)).toHaveProperty(name)
    expect(bodies).toEqual(Object.fromEntries(Object.keys(bodies).map(way => [way, [first]])))
  })
})
