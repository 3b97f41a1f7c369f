import { isObject } from '../../json.ts'
import { missingPartError, type ResponseDecoder, recordDecoder } from '../decode.ts'
import { defineOperation, hintIfNotFound } from '../operation.ts'
import { param } from '../param.ts'
import { organizationParams } from './failing-tests.ts'
import { testDocumentFields, testFields } from './service-fields.ts'

/** The record is the test itself; `--json` prints the whole document with the test in it. */
const testDecoder: ResponseDecoder = {
  expects: 'json',
  read(response) {
    const [document = {}] = recordDecoder(record => record).read(response).records
    if (!isObject(document.test)) throw missingPartError('test')
    return {
      records: [document.test],
      document: ([test = {}]) => (test === document.test ? document : { ...document, test }),
      bytes: response.bytes,
    }
  },
}

export const getTestDetails = defineOperation({
  route: 'POST /flaky-tests/get-test-details',
  effect: false,
  fields: testFields,
  documentFields: testDocumentFields,
  params: { ...organizationParams, test: param<string>('body.test_id', { required: true }) },
  decoder: testDecoder,
  errors: {
    subject: 'the test',
    hint: hintIfNotFound('Check the test ID, --repo and --org.'),
  },
})
