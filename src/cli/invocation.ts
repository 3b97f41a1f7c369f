import type { Row } from '../api/operation.ts'
import type { Context, Fields, Given, Values } from './inputs.ts'
import { largestBody } from '../domain/limits.ts'
import { usage } from '../errors.ts'
import { concernsOf, makeRequest, type Request, tooLarge } from '../api/request.ts'
import { type Laid, readSets } from '../api/body-overrides.ts'
import { contextOf } from '../config/config.ts'
import type { Found } from '../config/source.ts'
import type { Json } from '../json.ts'
import { oneLine } from '../output/sanitize.ts'
import { canAsk, type Desk } from './context.ts'

/** One run of an operation: the values of its fields, and what `--set` lays over the body. */
export interface Run<F extends Fields = Fields> {
  readonly values: Values<F>
  readonly sets: readonly Laid[]
}

/** given → values, field by field. */
export async function readValues<F extends Fields>(
  fields: F,
  given: Given,
  context: Context,
): Promise<Values<F>> {
  const entries: [string, unknown][] = []
  for (const [name, field] of Object.entries(fields)) entries.push([name, await field.read(given, context)])
  return Object.fromEntries(entries) as Values<F>
}

/** given → values: one run for each pull request. What is wrong with any of them is said before anything is sent. */
export async function readRuns<F extends Fields>(
  row: Row<Row['route'], F>,
  desk: Desk,
): Promise<readonly Run<F>[]> {
  const { given, settings } = desk
  const sets = readSets(given, row.fields)
  const contextFor = (one: Given) => contextOf(settings.under(one), desk)
  const split = Object.values(row.fields).find(field => field.each !== undefined)
  const givens = (await split?.each?.(given, contextFor(given))) ?? [given]
  const runs: Run<F>[] = []
  for (const one of givens) {
    const values = await readValues(row.fields, one, contextFor(one))
    row.check?.(
      values,
      sets.map(({ path }) => path.join('.')),
    )
    runs.push({ values: sets.length === 0 ? values : asSent(row, values, sets), sets })
  }
  return runs
}

/** The values with what `--set` says the request concerns: what is asked, read, waited for and printed is about that. */
function asSent<F extends Fields>(
  row: Row<Row['route'], F>,
  values: Values<F>,
  sets: readonly Laid[],
): Values<F> {
  const { repo, targetBranch, pr } = concernsOf(row, values, { sets })
  const named = Object.entries({ repo, targetBranch, pr }).filter(
    ([name, value]) => value !== undefined && Object.hasOwn(row.fields, name),
  )
  return { ...values, ...Object.fromEntries(named) }
}

/** values → request; the row's stand-in takes the place of values that make the body too big. */
export async function requestOf<F extends Fields>(
  row: Row<Row['route'], F>,
  run: Run<F>,
  desk: Desk,
  more: Readonly<Record<string, Json>> = {},
): Promise<{ readonly request: Request; readonly values: Values<F> }> {
  const { options, settings, voice, world } = desk
  const making = {
    baseUrl: await settings.need('baseUrl'),
    userAgent: `mergeq/${world.runtime.version}`,
    sets: run.sets,
    maxAnswer: options.maxAnswer,
    more,
  }
  const request = makeRequest(row, run.values, making)
  await tellOrigins(desk)
  const bytes = request.body?.bytes ?? 0
  if (bytes <= largestBody) return { request, values: run.values }
  const instead = row.standIn?.(run.values, 'limit')
  if (instead === undefined) throw tooLarge(request.operation, bytes)
  await voice.warn(instead.warning)
  return { request: makeRequest(row, instead.values, making), values: instead.values }
}

const told = new WeakMap<ReadonlyMap<unknown, Found>, number>()

/** Says with -v where the values came from, each once. */
async function tellOrigins({ options, settings, voice }: Desk): Promise<void> {
  if (!options.verbose) return
  const used = settings.used()
  const news = [...used].slice(told.get(used) ?? 0)
  told.set(used, used.size)
  for (const [name, { value, origin }] of news) await voice.detail(`${name}: ${value} (${origin})`)
}

/** Asks before something is destroyed; where nobody can be asked, a usage failure names the flag. */
export async function confirm(row: Row, runs: readonly Run[], { world, options }: Desk): Promise<void> {
  const question = row.confirm?.(runs.map(({ values }) => values))
  if (question === undefined) return
  if (!canAsk({ options, world }))
    throw usage(
      `\`mergeq ${row.command}\` asks before it goes on, and nobody can answer here.`,
      'Give --yes to go on without being asked.',
    )
  const answer = (await world.input.ask(`${oneLine(question.text)} `))?.trim() ?? ''
  const agreed = question.answer === 'y' ? /^y(es)?$/i.test(answer) : answer === question.answer
  if (!agreed) throw usage('Not confirmed; nothing was sent.')
}
