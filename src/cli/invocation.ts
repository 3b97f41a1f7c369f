import { type BodyOverride, readOverrides } from '../api/body-overrides.ts'
import type { Operation } from '../api/operation.ts'
import { bodyTooLargeError, concernsOf, createRequest, type Request } from '../api/request.ts'
import type { ParsedArgs } from '../config/args.ts'
import { createParseContext } from '../config/config.ts'
import type { ParseContext } from '../config/parse-context.ts'
import type { ResolvedValue } from '../config/setting-source.ts'
import { maxBodySize } from '../domain/limits.ts'
import { usageError } from '../errors.ts'
import type { Json } from '../json.ts'
import { sanitizeLine } from '../output/sanitize.ts'
import { type CommandContext, canPrompt } from './context.ts'
import type { Inputs, InputValues } from './inputs.ts'

/** One run of an operation: the values of its fields, and what `--set` lays over the body. */
export interface Invocation<F extends Inputs = Inputs> {
  readonly values: InputValues<F>
  readonly overrides: readonly BodyOverride[]
}

/** given → values, field by field. */
export async function readInputs<F extends Inputs>(
  fields: F,
  args: ParsedArgs,
  context: ParseContext,
): Promise<InputValues<F>> {
  const entries: [string, unknown][] = []
  for (const [name, field] of Object.entries(fields)) entries.push([name, await field.read(args, context)])
  return Object.fromEntries(entries) as InputValues<F>
}

/** given → values: one run for each pull request. What is wrong with any of them is said before anything is sent. */
export async function readInvocations<F extends Inputs>(
  row: Operation<Operation['route'], F>,
  context: CommandContext,
): Promise<readonly Invocation<F>[]> {
  const { args, settings } = context
  const overrides = readOverrides(args, row.inputs)
  const contextFor = (one: ParsedArgs) => createParseContext(settings.withArgs(one), context)
  const split = Object.values(row.inputs).find(field => field.split !== undefined)
  const givens = (await split?.split?.(args, contextFor(args))) ?? [args]
  const runs: Invocation<F>[] = []
  for (const one of givens) {
    const values = await readInputs(row.inputs, one, contextFor(one))
    row.check?.(
      values,
      overrides.map(({ path }) => path.join('.')),
    )
    runs.push({ values: overrides.length === 0 ? values : asSent(row, values, overrides), overrides })
  }
  return runs
}

/** The values with what `--set` says the request concerns: what is asked, read, waited for and printed is about that. */
function asSent<F extends Inputs>(
  row: Operation<Operation['route'], F>,
  values: InputValues<F>,
  overrides: readonly BodyOverride[],
): InputValues<F> {
  const { repo, targetBranch, pr } = concernsOf(row, values, { overrides })
  const named = Object.entries({ repo, targetBranch, pr }).filter(
    ([name, value]) => value !== undefined && Object.hasOwn(row.inputs, name),
  )
  return { ...values, ...Object.fromEntries(named) }
}

/** values → request; the row's stand-in takes the place of values that make the body too big. */
export async function buildRequest<F extends Inputs>(
  row: Operation<Operation['route'], F>,
  run: Invocation<F>,
  context: CommandContext,
  more: Readonly<Record<string, Json>> = {},
): Promise<{ readonly request: Request; readonly values: InputValues<F> }> {
  const { options, settings, logger, host } = context
  const making = {
    baseUrl: await settings.require('baseUrl'),
    userAgent: `mergeq/${host.runtime.version}`,
    overrides: run.overrides,
    maxAnswer: options.maxAnswer,
    pageQuery: more,
  }
  const request = createRequest(row, run.values, making)
  await logOrigins(context)
  const bytes = request.body?.bytes ?? 0
  if (bytes <= maxBodySize) return { request, values: run.values }
  const instead = row.fallback?.(run.values, 'limit')
  if (instead === undefined) throw bodyTooLargeError(request.operation, bytes)
  await logger.warn(instead.warning)
  return { request: createRequest(row, instead.values, making), values: instead.values }
}

const told = new WeakMap<ReadonlyMap<unknown, ResolvedValue>, number>()

/** Says with -v where the values came from, each once. */
async function logOrigins({ options, settings, logger }: CommandContext): Promise<void> {
  if (!options.verbose) return
  const used = settings.used()
  const news = [...used].slice(told.get(used) ?? 0)
  told.set(used, used.size)
  for (const [name, { value, origin }] of news) await logger.debug(`${name}: ${value} (${origin})`)
}

/** Asks before something is destroyed; where nobody can be asked, a usage failure names the flag. */
export async function confirm(
  row: Operation,
  runs: readonly Invocation[],
  { host, options }: CommandContext,
): Promise<void> {
  const question = row.confirm?.(runs.map(({ values }) => values))
  if (question === undefined) return
  if (!canPrompt({ options, host }))
    throw usageError(
      `\`mergeq ${row.command}\` asks before it goes on, and nobody can answer here.`,
      'Give --yes to go on without being asked.',
    )
  const answer = (await host.input.ask(`${sanitizeLine(question.text)} `))?.trim() ?? ''
  const agreed = question.answer === 'y' ? /^y(es)?$/i.test(answer) : answer === question.answer
  if (!agreed) throw usageError('Not confirmed; nothing was sent.')
}
