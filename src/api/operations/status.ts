import { isObject } from '../../json.ts'
import { defineOperation } from '../operation.ts'
import type { ResponseDecoder } from '../response.ts'

/** Accepts every response: its form is not known. A text becomes the field `status` of the record. */
const statusDecoder: ResponseDecoder = {
  expects: 'anything',
  read({ document, text, bytes }) {
    const record = isObject(document) ? document : { status: text.trim() }
    return { records: [record], document: () => record, bytes }
  },
}

export const getServiceStatus = defineOperation({
  route: 'GET /status',
  summary: 'Reads the health of the service; needs no token.',
  isHostedOnly: true,
  isPublic: true,
  params: {},
  decoder: statusDecoder,
  errors: { subject: 'the status of the service' },
})
