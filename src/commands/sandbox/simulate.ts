import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { flag, type InputValues, option } from '../../cli/inputs.ts'
import { readInvocations } from '../../cli/invocation.ts'
import { printDryRun } from '../../cli/run-operation.ts'
import { pluralize } from '../../domain/format.ts'
import { integerParser, parseDecimal } from '../../domain/values/parsers.ts'
import { usageError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { bar } from '../../output/charts.ts'
import { type ColumnSpec, table, type View } from '../../output/view.ts'
import type { SimulatedLoad, SimulationResult } from '../../sandbox/simulate.ts'
import { metrics } from '../metrics.ts'

/** Reads a number between two bounds, the lower one not included where `isOpen`. */
const between = (least: number, most: number, isOpen: boolean) => (word: string) => {
  const number = parseDecimal(word)
  if (number < least || number > most || (isOpen && number === least))
    throw usageError(
      `'${word}' is not ${isOpen ? `more than ${least} and` : `from ${least} to`} at most ${most}.`,
    )
  return number
}

/** Reads whole numbers joined by commas, each once. */
const several = (most: number) => (word: string) => [...new Set(word.split(',').map(integerParser(1, most)))]

const fields = {
  prsPerHour: option(
    '--prs-per-hour <n>',
    'How many pull requests are submitted in an hour',
    between(0, 10_000, true),
  ),
  testMinutes: option(
    '--test-minutes <n>',
    'How long a test run takes, in minutes',
    between(0, 10_000, true),
  ),
  failureRate: option(
    '--failure-rate <x>',
    'Share of pull requests that fail, 0 to 0.9 (default 0)',
    between(0, 0.9, false),
  ),
  concurrency: option(
    '--concurrency <n,...>',
    'Test runs at a time; several are compared (default 1)',
    several(1_000),
  ),
  batch: option('--batch <n,...>', 'Size of a batch; several are compared (default 1, none)', several(100)),
  weeks: option('--weeks <n>', 'How long to simulate (default 4)', integerParser(1, 520)),
  seed: option(
    '--seed <n>',
    'The same seed gives the same weeks (default 1)',
    integerParser(0, 4_294_967_295),
  ),
  fromMetrics: flag('--from-metrics', 'Take what is not given from the metrics of the last hour'),
}

const mostSetups = 64

const columns: readonly ColumnSpec[] = [
  ['CONCURRENCY', 'concurrency', 'number'],
  ['BATCH', 'batch', 'number'],
  ['MERGED/H', 'mergedPerHour', 'number'],
  ['P50 MIN', 'p50', 'number'],
  ['P95 MIN', 'p95', 'number'],
  ['CI MIN/MERGE', 'ciMinutesPerMerge', 'number'],
  ['FAILED', 'failed', 'number'],
  ['LEFT', 'left', 'number'],
]

/** What the flags and, where that was asked for, the metrics say. */
async function loadOf(values: InputValues<typeof fields>, context: CommandContext): Promise<SimulatedLoad> {
  const { fromMetrics, weeks = 4, seed = 1 } = values
  const measured = fromMetrics
    ? await (await import('./simulate/measured-load.ts')).measureLoad(context)
    : undefined
  const { prsPerHour = measured?.prsPerHour, testMinutes = measured?.testMinutes } = values
  const { failureRate = Math.min(0.9, measured?.failureRate ?? 0) } = values
  if (prsPerHour === undefined || testMinutes === undefined)
    throw usageError(
      `${prsPerHour === undefined ? '--prs-per-hour' : '--test-minutes'} is missing.`,
      'Say how much there is to test, or take it from the last hour with --from-metrics.',
    )
  return { prsPerHour, testMinutes, failureRate, weeks, seed }
}

const short = (value: number): string => String(Math.round(value * 100) / 100)

function picture(load: SimulatedLoad, outcomes: readonly JsonObject[]): View {
  const { rows, columns: drawn } = table(outcomes, columns)
  const times = outcomes.map(({ p95 }) => (typeof p95 === 'number' ? p95 : 0))
  return {
    heading: [
      `${pluralize(load.weeks, 'week')} of ${short(load.prsPerHour)} pull requests an hour, tests of ${short(load.testMinutes)} minutes, ${short(load.failureRate * 100)} % fail`,
    ],
    columns: [...drawn, { title: 'P95', format: 'plain' }],
    rows: rows.map((row, index) => [...row, bar(times[index] ?? 0, Math.max(...times), 20) || '·']),
  }
}

/** A setting that leaves more than this share of what was submitted in the queue does not keep up. */
const tooMany = 0.05

/** `sandbox simulate`: what a queue would do under other settings, by the sandbox's own engine. */
export const simulate = defineCommand({
  command: 'sandbox simulate',
  summary: 'What if: throughput, time in queue and CI minutes of a queue under several settings',
  operations: [getMergeQueueMetrics],
  output: {
    table: 'a row for each setting, and on a terminal a small chart',
    json: '{"model","results"}: the load and what it leaves out, and a result for each setting',
    ndjson: 'one setting a line',
  },
  inputs: fields,
  examples: [
    'mergeq sandbox simulate --prs-per-hour 6 --test-minutes 20 --concurrency 1,2,4',
    'mergeq sandbox simulate --prs-per-hour 12 --test-minutes 30 --failure-rate 0.05 --concurrency 4 --batch 1,4,8',
    'mergeq sandbox simulate --from-metrics --concurrency 2,4,8 --json',
  ],
  async run(values, context) {
    const { printer, host, logger, options } = context
    if (options.dryRun && values.fromMetrics)
      return printDryRun(getMergeQueueMetrics, await readInvocations(metrics, context), context)
    const { simulationLimits, maxSubmits, simulationResult, simulateQueue } = await import(
      '../../sandbox/simulate.ts'
    )
    const load = await loadOf(values, context)
    const { concurrency = [1], batch = [1] } = values
    const setups = concurrency.flatMap(runs => batch.map(size => ({ concurrency: runs, batch: size })))
    if (setups.length > mostSetups)
      throw usageError(`These are ${setups.length} settings; at most ${mostSetups} are compared.`)
    if (load.prsPerHour * load.weeks * 168 > maxSubmits)
      throw usageError(
        `These would be more than ${pluralize(maxSubmits, 'pull request')}.`,
        'Simulate fewer --weeks: the answer hardly changes.',
      )
    const outcomes: SimulationResult[] = []
    for (const setup of setups) {
      const days = simulateQueue(load, setup)
      let step = days.next()
      // Between two days a signal has its turn.
      for (; step.done !== true; step = days.next()) await host.clock.sleep(0, host.interrupted)
      outcomes.push(simulationResult(step.value, load, setup))
    }
    await printer.print({
      records: outcomes.map(outcome => ({ ...outcome })),
      document: results => ({ model: { ...load, leavesOut: simulationLimits }, results }),
      shape: results => ({ ...table(results, columns), terminalView: () => picture(load, results) }),
    })
    await printer.end()
    const behind = outcomes.filter(({ left, submitted }) => left > submitted * tooMany)
    if (behind.length > 0)
      await logger.info(
        `${pluralize(behind.length, 'setting')} cannot keep up: the longer it lasts, the more is LEFT and the later it merges.`,
      )
    await logger.info(`A model, not a promise: ${simulationLimits.join('; ')}.`)
    return 0
  },
})
