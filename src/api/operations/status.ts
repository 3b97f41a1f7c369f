import { defineOperation } from '../operation.ts'
import { recordDecoder } from '../response.ts'

export const getServiceStatus = defineOperation({
  route: 'GET /status',
  summary: 'Reads the health of the service; needs no token.',
  isHostedOnly: true,
  isPublic: true,
  params: {},
  decoder: recordDecoder(status => status),
  errors: { subject: 'the status of the service' },
})

export const statusOperations = { status: getServiceStatus }
