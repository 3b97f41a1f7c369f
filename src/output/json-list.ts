import type { JsonObject } from '../json.ts'
import { stringifyJson } from '../json-text.ts'
import { parts } from './view.ts'

/** One JSON document with a list in it, written while the list is read: it is whole once it was ended. */
export interface JsonList {
  /** Writes records; nothing is written before the first call. */
  add(records: readonly JsonObject[]): Promise<void>
  /** Ends the list and writes what stands beside it, which must not be empty. */
  end(around: JsonObject): Promise<void>
}

/** Opens a document that is a list and nothing else, written while its records are made. */
export function openArray(
  write: (text: string) => Promise<void>,
  pretty: boolean,
): { add(records: readonly JsonObject[]): Promise<void>; end(): Promise<void> } {
  let isEmpty = true
  return {
    async add(records) {
      if (records.length === 0) return
      const text = stringifyJson(records, pretty)
      await write(`${isEmpty ? '[' : ','}${text.slice(1, pretty ? -2 : -1)}`)
      isEmpty = false
    },
    end: () => write(isEmpty ? '[]\n' : pretty ? '\n]\n' : ']\n'),
  }
}

/** Where a document goes part by part; `pause` lets a signal be heard between parts. */
interface PartSink {
  write(text: string): Promise<void>
  pause?(): Promise<void>
}

/** Opens a document whose list stands under `key`; what comes out is what `encode` would make of the whole. */
export function createJsonList(sink: PartSink, key: string, pretty: boolean): JsonList {
  const [line, margin] = pretty ? ['\n  ', '\n    '] : ['', '']
  const item = (record: JsonObject) =>
    pretty ? stringifyJson(record, true).replaceAll('\n', margin) : stringifyJson(record)
  let before = `{${line}${stringifyJson(key)}:${pretty ? ' ' : ''}[`
  let isEmpty = true
  return {
    async add(records) {
      for await (const part of parts(records, sink.pause)) {
        await sink.write(`${before}${margin}${part.map(item).join(`,${margin}`)}`)
        before = ','
        isEmpty = false
      }
    },
    async end(around) {
      const rest = stringifyJson(around, pretty).slice(1)
      await sink.write(isEmpty ? `${before}],${rest}\n` : `${line}],${rest}\n`)
    },
  }
}
