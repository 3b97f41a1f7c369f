const json = 'application/json'
const methodMessage = 'This path does not support this method.'

const createJsonError = (message: string) => ({
  contentType: json,
  text: JSON.stringify({ error: { message } }),
})

/** The sandbox's own: JSON in all cases that are not documented (docs/reference/sandbox.md, "Dialects"). */
const document = {
  /** Whether it has the operations that the API document does not have. */
  hasHostedOperations: false,
  /** Whether it has, and needs, fields that the API document does not show (docs/reference/sandbox.md, "Dialects"). */
  hasObservedFields: false,
  formatState: (state: string) => state,
  /** Formats a time in milliseconds since 1970 as RFC 3339. */
  formatTime: (time: number) => new Date(time).toISOString(),
  emptyResponse: { contentType: json, text: '{}' },
  createErrorBody: createJsonError,
  methodNotAllowed: { status: 405, body: createJsonError(methodMessage) },
  queueNotEmptyStatus: 409,
  /** How long getSubmittedPullRequest does not show a new submit, in milliseconds at speed 1. */
  readDelay: 0,
}

/** The differences between what the documentation of the service says and what the hosted service does. */
export type Dialect = Readonly<typeof document>

export const dialects = {
  /** The spelling of the API document, with all operations. */
  both: { ...document, hasHostedOperations: true },
  document,
  /** The hosted service as it was observed (docs/reference/sandbox.md, "Dialects"). */
  hosted: {
    hasHostedOperations: true,
    hasObservedFields: true,
    formatState: state => state.toLowerCase(),
    formatTime: time => new Date(Math.floor(time / 1000) * 1000).toISOString(),
    emptyResponse: { contentType: 'text/plain; charset=utf-8', text: 'OK' },
    createErrorBody: message => ({ contentType: 'application/plain-text', text: message }),
    methodNotAllowed: {
      status: 404,
      body: {
        contentType: 'text/html; charset=utf-8',
        text: `<!DOCTYPE html><title>Not Found</title><pre>${methodMessage}</pre>\n`,
      },
    },
    queueNotEmptyStatus: 400,
    readDelay: 200,
  },
} satisfies Readonly<Record<string, Dialect>>

export type DialectName = keyof typeof dialects
