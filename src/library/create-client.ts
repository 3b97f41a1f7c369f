import { MergeqError, toMergeqError } from '../errors.ts'
import type { Host, Output } from '../host/host.ts'
import { createInterruption } from '../host/node-process.ts'
import type { Json } from '../json.ts'
import { createRedactor } from '../output/redactor.ts'
import { createCallClient } from './call-client.ts'
import { clientReaders, sourceOf } from './client-options.ts'
import type { MethodDefinition, MethodName, MethodOptions } from './define-method.ts'
import { methods } from './methods.ts'
import { readOptions } from './option-readers.ts'
import type { Client, ClientOptions } from './types.ts'

type MethodResult<M extends MethodName> = Awaited<ReturnType<Client[M]>>

const createOutput = (write: Output['write']): Output => ({ terminal: false, columns: 80, rows: 24, write })

/**
 * Returns a signal that follows the signal of the caller, if there is one, with an `interrupted` error as its
 * reason.
 */
function toInterruption(signal: AbortSignal | undefined): AbortSignal {
  const interruption = createInterruption()
  const abort = () => interruption.abort(new MergeqError('interrupted', 'The call was aborted.'))
  if (signal?.aborted) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  return interruption.signal
}

/** The error that the caller receives: its details and the document are members of it. */
const toPublicError = (error: unknown, redact: (text: string) => string, document: Json = null): Error => {
  const failure = toMergeqError(error)
  const { details, message } = failure
  return Object.assign(failure, details, { name: 'MergeqError', message: redact(message), document })
}

/**
 * Returns a client: a method for each operation of the service, with the settings, retries, limits and errors
 * of the command line. Settings that are left out come from the same sources as on the command line. Throws a
 * usage error for a wrong option.
 */
export function createHostClient(options: ClientOptions, host: Host): Client {
  const secrets = createRedactor()
  const { token, signal, onNotice, ...settings } = readClientOptions(options, secrets.redact)
  if (token !== undefined) secrets.hide(token.trim())
  const clientHost: Host = {
    ...host,
    env: token === undefined ? host.env : { ...host.env, MERGEQ_TOKEN: token },
    out: createOutput(async () => undefined),
    err: createOutput(async text => onNotice?.(secrets.redact(String(text)).trimEnd())),
    interrupted: toInterruption(signal),
  }

  const method =
    <M extends MethodName>({ call }: MethodDefinition<M>) =>
    async (callOptions?: MethodOptions<M>): Promise<MethodResult<M>> => {
      const { document, failure } = await call(callOptions ?? {}, settings, (given, changes) =>
        // What git says is kept for each host: another call reads the checkout again.
        createCallClient(sourceOf(given), { ...clientHost }, secrets, { changes }),
      ).catch((error: unknown) => ({ document: null, failure: toMergeqError(error) }))
      if (failure !== undefined) throw toPublicError(failure, secrets.redact, document)
      // The types describe the responses of the service; the decoders check what they declare as present.
      return document as MethodResult<M>
    }
  return {
    submitPullRequest: method(methods.submitPullRequest),
    cancelPullRequest: method(methods.cancelPullRequest),
    restartTestsOnPullRequest: method(methods.restartTestsOnPullRequest),
    getSubmittedPullRequest: method(methods.getSubmittedPullRequest),
    setImpactedTargets: method(methods.setImpactedTargets),
    getMergeQueueTestingDetails: method(methods.getMergeQueueTestingDetails),
    createQueue: method(methods.createQueue),
    getQueue: method(methods.getQueue),
    updateQueue: method(methods.updateQueue),
    deleteQueue: method(methods.deleteQueue),
    getMergeQueueMetrics: method(methods.getMergeQueueMetrics),
    listFailingTests: method(methods.listFailingTests),
    getTestDetails: method(methods.getTestDetails),
    listPullRequests: method(methods.listPullRequests),
    listQuarantinedTests: method(methods.listQuarantinedTests),
    listUnhealthyTests: method(methods.listUnhealthyTests),
    linkTicketToTestCase: method(methods.linkTicketToTestCase),
    status: method(methods.status),
  }
}

function readClientOptions(options: ClientOptions, redact: (text: string) => string) {
  try {
    return readOptions('createClient', options, clientReaders)
  } catch (error) {
    throw toPublicError(error, redact)
  }
}
