import { getMergeQueueMetrics } from '../../api/operations/queue-metrics.ts'
import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import type { RecordFields } from '../../cli/fields/record-fields.ts'
import { flag, type InputValues, option } from '../../cli/inputs.ts'
import { readInvocations } from '../../cli/invocation.ts'
import { printDryRun } from '../../cli/preview.ts'
import { pluralize } from '../../domain/format.ts'
import { integerParser, parseDecimal } from '../../domain/values/numbers.ts'
import { usageError } from '../../errors.ts'
import { type ColumnSpec, table } from '../../output/view.ts'
import type { SimulatedLoad, SimulationResult } from '../../sandbox/simulation.ts'
import { metricsRequest } from '../metrics/request/metrics-request.ts'
import { keepsUp, simulationView } from './simulate/simulation-view.ts'

/** Creates a parser for a number from 0 to `max`; `isOpen` excludes 0. It throws a usage error otherwise. */
const parseNumberTo = (max: number, isOpen: boolean) => (text: string) => {
  const number = parseDecimal(text)
  if (number < 0 || number > max || (isOpen && number === 0))
    throw usageError(
      `'${text}' is not a number ${isOpen ? 'greater than 0 and at most' : 'from 0 to'} ${max}.`,
    )
  return number
}

/** Creates a parser for integers from 1 to `max` with commas between them; it drops duplicates. */
const parseIntegerList = (max: number) => (text: string) => [
  ...new Set(text.split(',').map(integerParser(1, max))),
]

/** The share of pull requests that fail, where neither an option nor the metrics give it. */
const defaultFailureRate = 0

const inputs = {
  prsPerHour: option({
    name: 'prs-per-hour',
    value: 'n',
    summary: 'Pull requests submitted per hour',
    parse: parseNumberTo(10_000, true),
  }),
  testMinutes: option({
    name: 'test-minutes',
    value: 'n',
    summary: 'Duration of a test run, in minutes',
    parse: parseNumberTo(10_000, true),
  }),
  failureRate: option({
    name: 'failure-rate',
    value: 'x',
    defaultText: String(defaultFailureRate),
    summary: 'Share of pull requests that fail, 0 to 0.9',
    parse: parseNumberTo(0.9, false),
  }),
  concurrency: option({
    name: 'concurrency',
    value: 'n,...',
    default: '1',
    summary: 'Maximum number of concurrent test runs; several values are compared',
    parse: parseIntegerList(1_000),
  }),
  batch: option({
    name: 'batch',
    value: 'n,...',
    default: '1',
    summary: 'Batch size, 1 for no batches; several values are compared',
    parse: parseIntegerList(100),
  }),
  weeks: option({
    name: 'weeks',
    value: 'n',
    default: '4',
    summary: 'Number of weeks to simulate',
    parse: integerParser(1, 520),
  }),
  seed: option({
    name: 'seed',
    value: 'n',
    default: '1',
    summary: 'Seed for the simulation; the same seed gives the same result',
    parse: integerParser(0, 4_294_967_295),
  }),
  fromMetrics: flag({
    name: 'from-metrics',
    summary: 'Take missing values from the metrics of the last hour',
  }),
}

/** How many combinations of settings are simulated at most. */
const maxSetups = 64

const columns: readonly ColumnSpec[] = [
  ['CONCURRENCY', 'concurrency', 'number'],
  ['BATCH', 'batch', 'number'],
  ['MERGED/H', 'mergedPerHour', 'number'],
  ['P50 MIN', 'p50', 'number'],
  ['P95 MIN', 'p95', 'number'],
  ['CI MIN/MERGE', 'ciMinutesPerMerge', 'number'],
  ['FAILED', 'failed', 'number'],
  ['QUEUED', 'left', 'number'],
]

/** A record is the result for a combination of settings. */
const resultRecord: RecordFields = {
  names: [
    ...['concurrency', 'batch', 'submitted', 'merged', 'failed', 'left'],
    ...['mergedPerHour', 'p50', 'p95', 'ciMinutesPerMerge'],
  ],
  columns: [
    ...columns,
    // The headings on a terminal.
    ['P50', 'p50'],
    ['CI/MERGE', 'ciMinutesPerMerge'],
    ['STILL QUEUED', 'left'],
    ['TIME TO MERGE', 'p50'],
  ],
}

/**
 * Returns the load from the options and, with --from-metrics, from the metrics. Throws a usage error if it is
 * incomplete.
 */
async function readLoad(values: InputValues<typeof inputs>, context: CommandContext): Promise<SimulatedLoad> {
  const { fromMetrics, weeks, seed } = values
  const measuredLoad = fromMetrics
    ? await (await import('./simulate/measured-load.ts')).measureLoad(context)
    : undefined
  const { prsPerHour = measuredLoad?.prsPerHour, testMinutes = measuredLoad?.testMinutes } = values
  const { failureRate = Math.min(0.9, measuredLoad?.failureRate ?? defaultFailureRate) } = values
  if (prsPerHour === undefined || testMinutes === undefined)
    throw usageError(
      `${prsPerHour === undefined ? '--prs-per-hour' : '--test-minutes'} is required.`,
      'Specify the load with --prs-per-hour and --test-minutes, or use --from-metrics.',
    )
  return { prsPerHour, testMinutes, failureRate, weeks, seed }
}

/** `sandbox simulate`: predicts throughput under several settings with the engine of the sandbox. */
export const sandboxSimulateCommand = defineCommand({
  command: 'sandbox simulate',
  summary: 'Simulate throughput, time in queue and CI minutes with different settings',
  operations: [getMergeQueueMetrics],
  output: {
    table: 'one row per combination of settings; on a terminal, also a chart',
    json: '{"model","results"}: the simulated load and its limits, and one result per combination',
    ndjson: 'one result per line',
  },
  fields: resultRecord,
  inputs,
  examples: [
    'mergeq sandbox simulate --prs-per-hour 6 --test-minutes 20 --concurrency 1,2,4',
    'mergeq sandbox simulate --prs-per-hour 12 --test-minutes 30 --failure-rate 0.05 --concurrency 4 --batch 1,4,8',
    'mergeq sandbox simulate --from-metrics --concurrency 2,4,8 --json',
  ],
  async dryRun(values, context) {
    // Without the metrics nothing is requested: the simulation changes nothing.
    if (!values.fromMetrics) return simulate(values, context)
    return printDryRun(getMergeQueueMetrics, await readInvocations(metricsRequest, context), context)
  },
  run: simulate,
})

/** Simulates every combination of settings and prints the results. Returns the exit code 0. */
async function simulate(values: InputValues<typeof inputs>, context: CommandContext): Promise<number> {
  const { printer, host, logger } = context
  const { simulationLimits, maxSubmits, simulationResult, simulateQueue } = await import(
    '../../sandbox/simulation.ts'
  )
  const load = await readLoad(values, context)
  const { concurrency, batch } = values
  const setups = concurrency.flatMap(runs => batch.map(size => ({ concurrency: runs, batch: size })))
  if (setups.length > maxSetups)
    throw usageError(
      `Too many combinations of settings (${setups.length}): the limit is ${maxSetups}.`,
      'Use fewer values for --concurrency or --batch.',
    )
  if (load.prsPerHour * load.weeks * 168 > maxSubmits)
    throw usageError(
      `The simulation would exceed ${pluralize(maxSubmits, 'pull request')}.`,
      'Use a smaller value for --weeks; the results hardly change.',
    )
  const simulations: SimulationResult[] = []
  for (const setup of setups) {
    const days = simulateQueue(load, setup)
    let step = days.next()
    // The event loop runs between two simulated days, so that a signal is handled.
    for (; step.done !== true; step = days.next()) await host.clock.sleep(0, host.interrupted)
    simulations.push(simulationResult(step.value, load, setup))
  }
  await printer.print({
    records: simulations.map(simulation => ({ ...simulation })),
    document: results => ({ model: { ...load, leavesOut: simulationLimits }, results }),
    view: results => ({ ...table(results, columns), terminalView: () => simulationView(load, simulations) }),
  })
  await printer.end()
  const overloaded = simulations.filter(simulation => !keepsUp(simulation))
  if (overloaded.length > 0)
    await logger.info(
      `${pluralize(overloaded.length, 'setting')} cannot keep up with the load: the queue and the time to merge keep growing.`,
    )
  await logger.info(
    host.err.terminal
      ? 'This is a model: constant load, no flaky tests, no conflicts, no priorities. To list all simplifications, add --json.'
      : `These results come from a model: ${simulationLimits.join('; ')}.`,
  )
  return 0
}
