import type { JsonObject } from '../json.ts'
import type { SandboxState } from './sandbox-state.ts'

/** A request with a valid token, whose body has all fields that the operation requires. */
interface HandlerRequest {
  readonly body: JsonObject
  readonly query: ReadonlyMap<string, string>
}

type HandlerResult = { readonly document: JsonObject } | { readonly text: string } | undefined

/** Performs an operation. Throws a status error if the service would refuse the request. */
export type Handler = (sandbox: SandboxState, request: HandlerRequest) => HandlerResult
