import { buildRequest } from '../api/build-request.ts'
import { describeRange } from '../api/pagination.ts'
import { bodyText } from '../api/request.ts'
import type { TimeRange } from '../domain/time-range.ts'
import { usageError } from '../errors.ts'
import { getString, isObject, type Json } from '../json.ts'
import { jsonToText, parseJson } from '../json-text.ts'
import type { CommandContext } from './context.ts'
import type { Invocation, RequestDefinition } from './invocation.ts'
import { rangeInput } from './time-range-options.ts'

/** What identifies a query: service, body, options that select records, and output format. */
export type QueryIdentity = Readonly<Record<string, string>>

const rangeOptions = rangeInput.definitions.map(({ name }) => name)
const changeableOptions = ['--max-pages', '--resume-file', ...rangeOptions]

export async function identifyQuery(
  { operation, inputs }: RequestDefinition,
  { values, overrides }: Invocation,
  context: CommandContext,
): Promise<QueryIdentity> {
  const { args, options } = context
  const { request } = await buildRequest(context.client(), operation, values, { overrides })
  const body = request.body === undefined ? undefined : parseJson(bodyText(request.body))
  const typedOptions = Object.values(inputs)
    .flatMap(({ definitions }) => definitions.map(({ name }) => name))
    .filter(name => args.has(name) && !changeableOptions.includes(name))
  const formatValue = (value: Json | undefined) =>
    isObject(value) ? Object.values(value).map(jsonToText).join('/') : jsonToText(value)
  return Object.fromEntries([
    ['service', request.url],
    ...Object.entries(isObject(body) ? body : {}).map(([key, value]) => [key, formatValue(value)]),
    ...typedOptions.map(name => [name, args.get(name)?.join(',') ?? '']),
    ['--output', options.format],
    ['--fields', options.fields.join(',')],
  ])
}

/** The same range options in a second run mean the range of the first run. */
export const typedRange = ({ args }: CommandContext): string =>
  rangeOptions.flatMap(name => (args.has(name) ? [`${name} ${args.get(name)?.[0]}`] : [])).join(' ')

const quote = (text: string): string => (text === '' ? 'not set' : `'${text}'`)

/** Throws a usage error that names the first difference of the queries or of their ranges. */
export function checkSameQuery(
  file: string,
  saved: { readonly query: Json | undefined; readonly range: TimeRange },
  current: { readonly query: QueryIdentity; readonly range: TimeRange },
): void {
  const differs = (what: string, savedText: string, currentText: string) =>
    usageError(
      `--resume-file: ${file} belongs to another query: ${what} is ${savedText} in the file and ${currentText} in this command.`,
      'Use another file, or run the original command again.',
    )
  const savedQuery = isObject(saved.query) ? saved.query : {}
  for (const key of new Set([...Object.keys(savedQuery), ...Object.keys(current.query)])) {
    const [savedValue, currentValue] = [getString(savedQuery, key) ?? '', current.query[key] ?? '']
    if (savedValue !== currentValue) throw differs(key, quote(savedValue), quote(currentValue))
  }
  const [savedRange, currentRange] = [describeRange(saved.range), describeRange(current.range)]
  if (savedRange !== currentRange) throw differs('the range', savedRange, currentRange)
}
