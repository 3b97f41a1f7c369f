import { type JsonObject, stringifyJson } from '../json.ts'
import { parts } from './view.ts'

/**
 * A JSON document with a list that is written while its records arrive. The document is valid JSON after
 * `end`.
 */
export interface JsonList {
  /** Writes records. Nothing is written before the first call. */
  add(records: readonly JsonObject[]): Promise<void>
  /** Ends the list and writes the other members of the document. `around` must not be empty. */
  end(around: JsonObject): Promise<void>
}

/** A JSON document that is a list, written while its records arrive. */
interface JsonArray {
  add(records: readonly JsonObject[]): Promise<void>
  end(): Promise<void>
  /** Ends the list after an error, unless nothing was written, and returns the error. Never rejects. */
  endAfter(error: unknown): Promise<unknown>
}

/** Creates a JSON document that is a list, written while its records arrive. */
export function createJsonArray(write: (text: string) => Promise<void>, pretty: boolean): JsonArray {
  let isEmpty = true
  const end = () => write(isEmpty ? '[]\n' : pretty ? '\n]\n' : ']\n')
  return {
    async add(records) {
      if (records.length === 0) return
      const text = stringifyJson(records, pretty)
      await write(`${isEmpty ? '[' : ','}${text.slice(1, pretty ? -2 : -1)}`)
      isEmpty = false
    },
    end,
    async endAfter(error) {
      if (!isEmpty) await end().catch(() => undefined)
      return error
    },
  }
}

/** Receives the parts of a document. `pause` lets signals be handled between parts. */
interface PartSink {
  write(text: string): Promise<void>
  pause?(): Promise<void>
}

/**
 * Creates a JSON document with a list under `key`. The output equals `stringifyJson` of the whole document.
 */
export function createJsonList(sink: PartSink, key: string, pretty: boolean): JsonList {
  const [newLine, itemIndent] = pretty ? ['\n  ', '\n    '] : ['', '']
  const item = (record: JsonObject) =>
    pretty ? stringifyJson(record, true).replaceAll('\n', itemIndent) : stringifyJson(record)
  let prefix = `{${newLine}${stringifyJson(key)}:${pretty ? ' ' : ''}[`
  let isEmpty = true
  return {
    async add(records) {
      for await (const part of parts(records, sink.pause)) {
        await sink.write(`${prefix}${itemIndent}${part.map(item).join(`,${itemIndent}`)}`)
        prefix = ','
        isEmpty = false
      }
    },
    async end(around) {
      const rest = stringifyJson(around, pretty).slice(1)
      await sink.write(isEmpty ? `${prefix}],${rest}\n` : `${newLine}],${rest}\n`)
    },
  }
}
