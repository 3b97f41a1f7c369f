import { isList } from '../api/list-operation.ts'
import type { Operation } from '../api/operation.ts'
import { type ClientOperationName, clientOperations, type RequestName } from '../api/operations/index.ts'
import { toMergeqError } from '../base/errors.ts'
import type { Json, JsonObject } from '../base/json.ts'
import { memoize } from '../base/scheduling.ts'
import type { ServiceHost } from '../host/host.ts'
import { parsePullRequest as parseReference } from '../values/pull-request.ts'
import { pullRequest } from '../values/types.ts'
import { type CallOutcome, createContext } from './call-client.ts'
import { call, iterate, sendCall } from './methods.ts'
import { readPublicly, toPublicError } from './options.ts'

type IteratorName = RequestName extends infer Name
  ? Name extends `list${infer Records}`
    ? `iterate${Records}`
    : never
  : never

/** The name of the method that iterates a list: `iterateFailingTests` for `listFailingTests`. */
export const iteratorName = (methodName: string): string => methodName.replace(/^list/, 'iterate')

/** The methods of a client. The published types, which the build makes, say what each takes and returns. */
export type Client = Readonly<Record<ClientOperationName, (options?: object) => Promise<JsonObject>>> &
  Readonly<Record<IteratorName, (options?: object) => AsyncGenerator<JsonObject, void>>> & {
    waitForPullRequests(options: object): Promise<readonly JsonObject[]>
    landPullRequests(options: object): Promise<readonly JsonObject[]>
    watchQueue(options?: object): AsyncGenerator<JsonObject, void>
  }

/** What only some methods need; loaded when they are called. */
export interface LibraryParts {
  waits(): Promise<typeof import('./waits.ts')>
  explanations(): Promise<typeof import('./explanations.ts')>
}

/**
 * Returns a client: a method for each operation of the service, with the settings, retries, limits and errors
 * of the command line. Settings that are left out come from the same sources as on the command line. Throws a
 * usage error for a wrong option.
 */
export function createHostClient(options: object, host: ServiceHost, parts: LibraryParts): Client {
  const context = createContext(options, host)
  const { redact } = context.secrets
  const waits = memoize(async () => (await parts.waits()).createWaits(context))
  const explaining: Readonly<Record<string, typeof sendCall>> = {
    explainPullRequest: async opened => (await parts.explanations()).explainOpened(opened),
    explainQueue: async opened => (await parts.explanations()).explainOpenedQueue(opened),
  }
  const asMethod =
    (run: (callOptions: unknown) => Promise<CallOutcome>) =>
    async (callOptions: unknown = {}): Promise<Json> => {
      const { document, failure } = await run(callOptions).catch((error: unknown) => ({
        document: null,
        failure: toMergeqError(error),
      }))
      if (failure !== undefined) throw toPublicError(failure, redact, document)
      return document
    }
  const methods: Record<string, unknown> = {
    waitForPullRequests: asMethod(async callOptions => (await waits()).waitForPullRequests(callOptions)),
    landPullRequests: asMethod(async callOptions => (await waits()).landPullRequests(callOptions)),
    watchQueue(callOptions: unknown = {}) {
      const stop = new AbortController()
      const run = async (give: (changes: readonly JsonObject[]) => Promise<void>) =>
        (await waits()).watchQueue(callOptions, stop.signal, give)
      const changes = valuesOf<JsonObject>(run, stop)
      return stoppable(withPublicErrors(changes, redact), stop)
    },
  }
  for (const [name, operation] of Object.entries<Operation>(clientOperations)) {
    const work = explaining[name] ?? sendCall
    methods[name] = asMethod(callOptions => call(operation, name, callOptions, context, work))
    if (!isList(operation)) continue
    const iterator = iteratorName(name)
    methods[iterator] = (callOptions: unknown = {}) =>
      withPublicErrors(iterate(operation, iterator, callOptions, context), redact)
  }
  return methods as unknown as Client
}

/** Returns the number of a pull request, and its repository if the reference names one. Throws a usage error otherwise. */
export const parsePullRequest = (reference: number | string) =>
  readPublicly(() => parseReference(pullRequest.check(reference)))

/** Yields what an iterator yields; its errors become those that the caller receives. */
async function* withPublicErrors<T>(
  values: AsyncGenerator<T, void>,
  redact: (text: string) => string,
): AsyncGenerator<T, void> {
  const next = () =>
    values.next().catch(error => {
      throw toPublicError(error, redact)
    })
  try {
    for (let result = await next(); result.done !== true; result = await next()) yield result.value
  } finally {
    await values.return(undefined)
  }
}

/** Makes `return` and `throw` abort `stop` at once: in a generator they wait for the value that was asked for. */
function stoppable<T>(values: AsyncGenerator<T, void>, stop: AbortController): AsyncGenerator<T, void> {
  const [end, fail] = [values.return.bind(values), values.throw.bind(values)]
  return Object.assign(values, {
    return(...given: Parameters<typeof end>) {
      stop.abort()
      return end(...given)
    },
    throw(...given: Parameters<typeof fail>) {
      stop.abort()
      return fail(...given)
    },
  })
}

interface Given<T> {
  readonly values: readonly T[]
  taken(): void
}

/**
 * Yields what `run` gives. `give` resolves when all of it was taken and more is asked for: while nobody asks, nothing
 * happens. The end of the iterator aborts `stop`, which must end `run`; its error is then no error.
 */
async function* valuesOf<T>(
  run: (give: (values: readonly T[]) => Promise<void>) => Promise<unknown>,
  stop: AbortController,
): AsyncGenerator<T, void> {
  let offer: (given?: Given<T>) => void = () => undefined
  let fail: (error: unknown) => void = () => undefined
  const nextOffer = () =>
    new Promise<Given<T> | undefined>((resolve, reject) => {
      offer = resolve
      fail = reject
    })
  let offered = nextOffer()
  let given: Given<T> | undefined
  const running = run(values => new Promise(taken => offer({ values, taken }))).then(
    () => offer(),
    error => (stop.signal.aborted ? offer() : fail(error)),
  )
  try {
    for (;;) {
      given = await offered
      if (given === undefined) return
      yield* given.values
      offered = nextOffer()
      given.taken()
    }
  } finally {
    stop.abort()
    given?.taken()
    await running
  }
}
