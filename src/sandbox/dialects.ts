/** A body and what it is. */
export interface DialectBody {
  readonly type: string
  readonly text: string
}

/** A way to say what the service does, with the few rules that differ with it. */
export interface Dialect {
  /** Whether answers have the fields that only service-observed.md knows of. */
  readonly tellsMore: boolean
  /** A state, in the case that this dialect writes it in. */
  state(word: string): string
  /** An instant in RFC 3339, from milliseconds since 1970. */
  instant(at: number): string
  /** What a change is answered with that has nothing to show. */
  readonly done: DialectBody
  refused(message: string): DialectBody
  /** The answer to a method that the path does not take. */
  readonly wrongMethod: { readonly status: number; readonly body: DialectBody }
  /** The status of a delete while pull requests are in the queue. */
  readonly notEmpty: number
  /** For how long a submit does not show in reads of the pull request, in milliseconds at speed 1. */
  readonly blindness: number
}

const json = 'application/json'
const wrongMethod = 'This path does not take this method.'

const errorJson = (message: string): DialectBody => ({
  type: json,
  text: JSON.stringify({ error: { message } }),
})

export const dialects = {
  /** As service-api.md says; where it does not say, JSON throughout (the sandbox's own). */
  document: {
    tellsMore: false,
    state: word => word,
    instant: at => new Date(at).toISOString(),
    done: { type: json, text: '{}' },
    refused: errorJson,
    wrongMethod: { status: 405, body: errorJson(wrongMethod) },
    notEmpty: 409,
    blindness: 0,
  },
  /** As the hosted service has been seen to answer (service-observed.md sections 1.2 to 1.5). */
  hosted: {
    tellsMore: true,
    state: word => word.toLowerCase(),
    instant: at => new Date(Math.floor(at / 1000) * 1000).toISOString(),
    done: { type: 'text/plain; charset=utf-8', text: 'OK' },
    refused: message => ({ type: 'application/plain-text', text: message }),
    wrongMethod: {
      status: 404,
      body: {
        type: 'text/html; charset=utf-8',
        text: `<!DOCTYPE html><title>Not Found</title><pre>${wrongMethod}</pre>\n`,
      },
    },
    notEmpty: 400,
    blindness: 200,
  },
} as const satisfies Readonly<Record<string, Dialect>>

export type DialectName = keyof typeof dialects

export const dialectNames: readonly string[] = Object.keys(dialects)
