import type { Operation, Params, ParamValues, Route } from '../api/operation.ts'
import { param } from '../api/operation.ts'
import type { DecodedResponse } from '../api/response.ts'
import type { NameOf } from '../api/service-client.ts'
import { defaultMaxPages, defaultPageSize } from '../domain/limits.ts'
import { integer } from '../domain/values/types.ts'
import type { MergeqError } from '../errors.ts'
import type { List } from './list.ts'

/**
 * What the command line and the library call: an operation with what both add to it alike, such as filters and a
 * limit. Most operations need nothing: then the method is the operation.
 */
export interface Method<P extends Params = Params, R extends Route = Route> extends Operation<P, R> {
  /** The name of the function of the library, if that is not the name of the operation. */
  readonly name?: string
  /**
   * Returns the list that is read for these values. Throws a usage error for values that contradict each other.
   *
   * @param now milliseconds since 1970, from which durations are subtracted
   */
  list?(values: ParamValues<P>, now: number, nameOf: NameOf): List
  /** Throws a usage error for values that are not enough; `hasOverrides`: other fields of the body were given. */
  check?(values: ParamValues<P>, hasOverrides: boolean, nameOf: NameOf): void
  /** Returns a response without what the service cannot leave out. */
  adaptResponse?(response: DecodedResponse, values: ParamValues<P>): DecodedResponse
  /**
   * Returns values to send instead when the body is too large for the limit of docs/reference/service.md,
   * "Limits", or for the service (413), and a warning about them. May throw an error that says more than the
   * number of bytes.
   */
  fallback?(
    values: ParamValues<P>,
    failure: MergeqError,
  ): { readonly values: ParamValues<P>; readonly warning: string } | undefined
}

/** Defines the method of an operation, with what it adds; its functions are typed from its `params`. */
export const defineMethod = <const P extends Params, R extends Route>(
  operation: Operation<Params, R>,
  own: Omit<Method<P>, keyof Operation> & Pick<Method<P>, 'params'>,
): Method<P, R> => ({ ...operation, ...own })

/**
 * The params of every list: how many records, and how they are requested.
 *
 * @param noun the records, in the plural: `tests`
 * @param pageSizePath the path of the body that the page size sets
 */
export const listParams = (noun: string, pageSizePath: string) => ({
  limit: param(integer(1, Number.MAX_SAFE_INTEGER), `Maximum number of ${noun}`),
  pageSize: param(integer(1, 100), `${noun.charAt(0).toUpperCase()}${noun.slice(1)} per page`, {
    defaultText: String(defaultPageSize),
    setsBodyPaths: [pageSizePath],
  }),
  maxPages: param(integer(1, Number.MAX_SAFE_INTEGER), 'Maximum number of pages to fetch', {
    defaultText: String(defaultMaxPages),
  }),
})
