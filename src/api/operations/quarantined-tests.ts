import { pluralizeFirst } from '../../domain/format.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import type { PageProtocol } from '../list-reader.ts'
import { defineOperation, hintIfNotFound } from '../operation.ts'
import { createTestPages } from '../test-pages.ts'
import { testListParams } from './failing-tests.ts'
import { quarantinedTestFields, quarantinedTestListFields } from './service-fields.ts'
import { createTestFilters } from './test-filters.ts'

const pages = createTestPages('quarantined_tests', 'test_case_id')

const protocol: PageProtocol<object> = {
  ...pages,
  query: (_, token, pageSize) => pages.pageQuery(token, pageSize),
  describe: () => 'the list',
}

export const listQuarantinedTests = defineOperation({
  route: 'POST /flaky-tests/list-quarantined-tests',
  effect: false,
  fields: quarantinedTestFields,
  documentFields: quarantinedTestListFields,
  isHostedOnly: true,
  params: testListParams,
  decoder: pages.decoder,
  errors: {
    subject: 'the quarantined tests',
    hint: hintIfNotFound('Check --repo and --org.'),
  },
  async pagination({ repo, ...params }) {
    const { paginateList } = await import('../pagination.ts')
    return paginateList(
      [{}],
      protocol,
      { ...params, filters: createTestFilters(params, 'file') },
      {
        describe: ({ shown }) => `${pluralizeFirst(shown, 'quarantined test')} in ${repositoryName(repo)}.`,
        envelope: result => pages.envelope(result, {}),
      },
    )
  },
})
