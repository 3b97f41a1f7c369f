// The records of tests (docs/reference/service.md).
import {
  field,
  flag,
  list,
  nested,
  number,
  open,
  required,
  sentRecord,
  text,
  windowField,
  words,
} from './fields.ts'

const linkRecord = sentRecord('Link', 'A link to a web page.', { html_url: text })

/** A test (docs/reference/service.md, "Test records"). */
export const testRecord = sentRecord('TestCase', 'A test case.', {
  id: field('string', 'A UUID.'),
  name: text,
  variant: text,
  status: nested(
    sentRecord('TestStatus', 'The status of a test.', {
      value: field(words('healthy', 'flaky', 'broken')),
      reason: text,
      timestamp: field('string', 'When the status last changed, in ISO 8601.'),
    }),
  ),
  quarantined: flag,
  failure_rate_last_24h: field('number', 'A fraction from 0 to 1.'),
  failure_rate_last_7d: field('number', 'A fraction from 0 to 1.'),
  pull_requests_impacted_last_7d: number,
  most_common_failures: list(
    sentRecord('CommonFailure', 'A frequent failure of a test.', {
      summary: text,
      occurrence_count: number,
      last_occurrence: field('string', 'In ISO 8601.'),
    }),
  ),
  codeowners: field('readonly string[]'),
  file_path: text,
  parent: field('string', 'The test suite.'),
  classname: text,
  repository: nested(linkRecord),
  html_url: text,
  ticket: nested(linkRecord),
})

/** A quarantined test (docs/reference/service.md, "list-quarantined-tests"). */
export const quarantinedTestRecord = sentRecord(
  'QuarantinedTest',
  'A quarantined test: its failures do not fail a CI job.',
  {
    name: text,
    variant: text,
    status: field(words('HEALTHY', 'FLAKY', 'BROKEN')),
    quarantine_setting: field(words('ALWAYS_QUARANTINE', 'AUTO_QUARANTINE')),
    status_last_updated_at: field('string', 'In ISO 8601.'),
    codeowners: field('readonly string[]'),
    file: field('string | null'),
    parent: field('string', 'The test suite.'),
    classname: text,
    test_case_id: field('string', 'Not stable, and not the id of the test in other lists.'),
  },
)

const page = open('Page', 'The pagination; for a list that was merged from several pages, only the totals.')

export const failingTestsRecord = sentRecord(
  'FailingTests',
  'The failing tests of all pages and windows as one list, each test once.',
  { tests: required(list(testRecord)), page, window: windowField('TimeWindow') },
)

export const unhealthyTestsRecord = sentRecord(
  'UnhealthyTests',
  'The flaky and broken tests of all pages as one list, each test once; without failure rates.',
  { tests: required(list(testRecord)), page, window: windowField('ListWindow') },
)

export const quarantinedTestsRecord = sentRecord(
  'QuarantinedTests',
  'The quarantined tests of all pages as one list.',
  {
    quarantined_tests: required(list(quarantinedTestRecord)),
    page,
    window: windowField('ListWindow'),
  },
)

export const testDocumentRecord = sentRecord('TestDetails', 'A test, in the document of the service.', {
  test: required(nested(testRecord)),
})
