import type { MergeqError } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../json.ts'
import type { Printer } from '../../output/printer.ts'

/** How many records are held back at most until every name is found: a short list then prints none. */
const maxHeldRecords = 1_000
const maxNames = 200

export interface UnexplainedNames {
  readonly names: readonly string[]
  createError(names: readonly string[], found: readonly string[]): MergeqError
}

/**
 * Returns a printer that holds back at most 1,000 records until each name was in one of the records, and then
 * prints at once. Where a name is in none of them, the end throws the usage error: before anything is printed
 * for a short list, after the whole list for a long one.
 */
export function checkNames(printer: Printer, { names, createError }: UnexplainedNames): Printer {
  if (names.length === 0) return printer
  const missing = new Set(names)
  const found = new Set<string>()
  let held: (() => Promise<void>)[] | undefined = []
  let [heldRecords, hasOutput] = [0, false]

  const release = async () => {
    const works = held ?? []
    held = undefined
    for (const work of works) await work()
  }
  const explain = (record: JsonObject) => {
    if (missing.size === 0) return
    for (const name of missing) if (hasField(record, name)) missing.delete(name)
    collectNames(record, '', found)
  }
  const take = async (records: readonly JsonObject[], work: () => Promise<void>) => {
    hasOutput = true
    for (const record of records) explain(record)
    if (held === undefined) return work()
    held.push(work)
    heldRecords += records.length
    if (missing.size === 0 || heldRecords > maxHeldRecords) await release()
  }
  const finish = async (end: () => Promise<void>) => {
    const error = hasOutput && missing.size > 0 ? createError([...missing], [...found]) : undefined
    if (error !== undefined && held !== undefined) throw error
    await release()
    await end()
    if (error !== undefined) throw error
  }
  return {
    print: printable => take(printable.records, () => printer.print(printable)),
    async printAll(batches, createView) {
      const checked = function* (): Generator<readonly JsonObject[]> {
        for (const records of batches) {
          for (const record of records) explain(record)
          yield records
        }
      }
      hasOutput = true
      await release()
      await printer.printAll(checked(), createView)
    },
    list(key) {
      const list = printer.list(key)
      return {
        add: records => take(records, () => list.add(records)),
        end: around => finish(() => list.end(around)),
      }
    },
    end: () => finish(() => printer.end()),
  }
}

function hasField(value: Json | undefined, path: string): boolean {
  if (Array.isArray(value)) return value.some(item => hasField(item, path))
  if (!isObject(value)) return false
  if (Object.hasOwn(value, path)) return true
  const dot = path.indexOf('.')
  const key = path.slice(0, Math.max(0, dot))
  return dot > 0 && Object.hasOwn(value, key) && hasField(value[key], path.slice(dot + 1))
}

function collectNames(value: Json | undefined, prefix: string, names: Set<string>): void {
  if (Array.isArray(value)) for (const item of value.slice(0, 1)) collectNames(item, prefix, names)
  if (!isObject(value)) return
  for (const [key, child] of Object.entries(value)) {
    if (names.size >= maxNames) return
    names.add(`${prefix}${key}`)
    collectNames(child, `${prefix}${key}.`, names)
  }
}
