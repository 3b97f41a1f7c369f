import { createServiceHost } from '../host/node-host.ts'
import { type Client, createHostClient, type LibraryParts } from './client.ts'

export { isMergeqError, MergeqError } from '../base/errors.ts'
export { parsePullRequest } from './client.ts'

declare const MERGEQ_VERSION: string

/** The version of this build, such as `0.1.0`; with the commit where it is not a release: `0.1.0+02ead434`. */
export const version: string = MERGEQ_VERSION

const neverAborted = new AbortController().signal

/**
 * Returns `createClient` of the package, whose entries say how the parts of the library are loaded (scripts/build.mjs). It
 * returns a client of the service with a method for each operation. Options that are left out are found where the command
 * line finds them. The client does not change the process: the token stays in `process.env`.
 */
export const createClientWith =
  (parts: LibraryParts) =>
  (options: object = {}): Client => {
    // createServiceHost removes the tokens from the environment of the process that it is given.
    const proc = Object.create(process, { env: { value: { ...process.env } } })
    return createHostClient(options, createServiceHost(proc, version, neverAborted), parts)
  }
