import { pluralizeFirst } from '../../domain/format.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import type { PageProtocol } from '../list-reader.ts'
import { defineOperation, hintIfNotFound } from '../operation.ts'
import { localParam } from '../param.ts'
import { pagesOfTests } from '../test-pages.ts'
import { testListParams } from './failing-tests.ts'
import { testFields, testListFields } from './service-fields.ts'
import { createTestFilters } from './test-filters.ts'

/** The statuses of a test that is not healthy, in the order in which they are requested. */
export const unhealthyStatuses = ['FLAKY', 'BROKEN'] as const

export type UnhealthyStatus = (typeof unhealthyStatuses)[number]

interface StatusSegment {
  readonly status: UnhealthyStatus
}

const protocol: PageProtocol<StatusSegment> = {
  ...pagesOfTests,
  query: ({ status }, token, pageSize) => ({ status, ...pagesOfTests.pageQuery(token, pageSize) }),
  describe: ({ status }) => `the list of tests with status ${status}`,
}

export const listUnhealthyTests = defineOperation({
  route: 'POST /flaky-tests/list-unhealthy-tests',
  effect: false,
  fields: testFields,
  documentFields: testListFields,
  isHostedOnly: true,
  params: {
    ...testListParams,
    /** Only this status; without it, one request after another for each status. */
    status: localParam<UnhealthyStatus | undefined>({ fills: ['status'] }),
    quarantined: localParam<boolean | undefined>(),
  },
  decoder: pagesOfTests.decoder,
  errors: {
    subject: 'the unhealthy tests',
    hint: hintIfNotFound('Check --repo and --org.'),
  },
  async pagination({ repo, status, ...params }) {
    const statuses = status === undefined ? unhealthyStatuses : [status]
    const adjective = statuses.join(' or ').toLowerCase()
    const { paginateList } = await import('../pagination.ts')
    return paginateList(
      statuses.map(status => ({ status })),
      protocol,
      { ...params, filters: createTestFilters(params) },
      {
        describe: ({ shown }) => `${pluralizeFirst(shown, `${adjective} test`)} in ${repositoryName(repo)}.`,
        envelope: result => pagesOfTests.envelope(result, {}),
      },
    )
  },
})
