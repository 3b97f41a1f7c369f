// Benchmark: measures mergeq as whole processes, compares it in the same run with programs that people would run instead
// (gh, a program of commander and undici alone, curl and jq), and prints one table with the targets. Slow results do not change the exit code;
// a failing command does.
//
// It measures on the Node that runs it and on a later version, one table each. --readme writes the quoted figures into
// the README, with the machine and the date.
//
//     npm run bench -- [--rounds 21] [--readme]
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, release, tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { baseline, cases, roundTripMs } from './bench/cases.mjs'
import { cpuMeter, findProgram, memoryMeter, summarize, wallTime } from './bench/measure.mjs'
import { createFigures, formatSummary, formatTable } from './bench/table.mjs'
import { directoryOfNode } from './node-programs.mjs'
import { measurePackage } from './packed-size.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../..')
/** What is measured beside the Node that runs this. */
const laterVersion = '24'
const warmUps = 3
/** Rounds for memory and CPU time, which vary less than wall time. */
const meterRounds = 7

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '21' },
    readme: { type: 'boolean', default: false },
  },
})
const rounds = Number(options.rounds)
if (!Number.isInteger(rounds) || rounds < 1)
  throw new Error(`--rounds: '${options.rounds}' is not a positive integer.`)

/**
 * The environment of the measured commands: without the variables that change Node (NODE_EXTRA_CA_CERTS costs
 * 37 ms) or that name certificates (SSL_CERT_FILE with the 144 authorities of Debian costs 50 ms), and without the
 * settings of the current user.
 */
function createEnvironment(folder, bin) {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(node_|npm_|mergeq_|ssl_cert_|trunk_|xdg_)|_proxy$|^path$/i.test(name),
  )
  const { PATH = '' } = process.env
  return {
    ...Object.fromEntries(inherited),
    HOME: folder,
    USERPROFILE: folder,
    PATH: `${bin}${delimiter}${PATH}`,
  }
}

const readOutput = (program, args, env) => execFileSync(program, args, { cwd: root, env, encoding: 'utf8' })

/** The size of the packed and unpacked package, and how many packages an install adds. */
function describePackage(env) {
  const { size, unpackedSize } = measurePackage(env)
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  return {
    packedKB: size / 1000,
    unpackedKB: unpackedSize / 1000,
    packages: 1 + Object.keys({ ...dependencies, ...optionalDependencies }).length,
  }
}

/**
 * Runs every case once in each round, one after the other, so that other load on the machine affects all
 * cases equally. Returns the measurements by the name of the case.
 *
 * @param key the property of a case that has its command
 */
function runInterleaved(running, rounds, measure, key = 'command') {
  const samples = new Map(running.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round++)
    for (const benchCase of running)
      if (round < (benchCase.rounds ?? rounds))
        samples.get(benchCase.name).push(measure(benchCase[key], benchCase.setting))
  return samples
}

/** Measures all cases. Returns a row for each case, with its targets. */
function measureAll(running, env, folder) {
  runInterleaved(running, warmUps, wallTime)
  const wallTimes = runInterleaved(running, rounds, wallTime)
  const [cpu, memory] = [
    [cpuMeter(env), 'command'],
    [memoryMeter(env, folder), 'memoryCommand'],
  ].map(([meter, key]) =>
    meter === undefined ? undefined : runInterleaved(running, Math.min(rounds, meterRounds), meter, key),
  )
  const median = (samples, name) => (samples === undefined ? undefined : summarize(samples.get(name)).median)
  return running.map(({ name, per, quoted, target, megabytes }) => ({
    name,
    per,
    quoted,
    target,
    megabytes,
    ms: summarize(wallTimes.get(name)),
    cpuMs: median(cpu, name),
    peakMB: median(memory, name),
  }))
}

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-bench-')))
const bin = join(folder, 'bin')
const baseEnv = createEnvironment(folder, bin)
execFileSync(process.execPath, [join(root, 'scripts/build.mjs')], {
  env: baseEnv,
  stdio: ['ignore', 'ignore', 'inherit'],
})
const service = fork(join(root, 'scripts/bench/service.mjs'), { env: baseEnv })
const linkArgs = [folder, String(roundTripMs)]
const linkProcess =
  findProgram('openssl', baseEnv.PATH) === undefined
    ? undefined
    : fork(join(root, 'scripts/bench/link.mjs'), linkArgs, { env: baseEnv })
try {
  // Measure a copy, so that a build that starts meanwhile does not change the results.
  for (const part of ['package.json', 'bin', 'dist'])
    cpSync(join(root, part), join(folder, 'mergeq', part), { recursive: true })
  const linkMessage = linkProcess && once(linkProcess, 'message')
  const [baseUrl] = await once(service, 'message')
  const [link] = (await linkMessage) ?? []
  const env = { ...baseEnv, MERGEQ_BASE_URL: baseUrl, MERGEQ_TOKEN: 'bench', GH_TOKEN: 'bench' }
  const missingPrograms = ({ needs = [] }) => needs.filter(name => findProgram(name, env.PATH) === undefined)
  const installed = cases.filter(benchCase => missingPrograms(benchCase).length === 0)
  const packageSizes = describePackage(baseEnv)

  /** Measures all cases on a Node program and prints the table. Resolves to the version with its figures. */
  async function runOn(node) {
    rmSync(bin, { recursive: true, force: true })
    mkdirSync(bin)
    const context = { node, launcher: join(folder, 'mergeq/bin/mergeq.js'), folder, bin, baseUrl, link }
    for (const benchCase of installed) await benchCase.prepare?.(context)
    const running = installed.map(benchCase => {
      const [program, ...args] = benchCase.command(context)
      return {
        ...benchCase,
        command: [program, ...args],
        memoryCommand: [program, ...(benchCase.memoryOptions ?? []), ...args],
        setting: { env: { ...env, ...benchCase.env?.(context) }, cwd: folder, exit: benchCase.exit },
      }
    })
    const version = readOutput(node, ['--version'], env).trim()
    console.error(`measuring ${running.length} commands on Node ${version}, ${rounds} rounds each`)
    const figures = createFigures(measureAll(running, env, folder), baseline, packageSizes)
    console.log(`\nNode ${version}\n\n${formatTable(figures)}`)
    return { node: version, figures }
  }

  const machine = `${cpus().length} x ${cpus()[0]?.model.trim()}, ${process.platform} ${process.arch} ${release()}`
  const about = `${machine}, ${new Date().toISOString().slice(0, 10)}: the medians of ${rounds} rounds.`
  console.log(`${about} figure: the ratio to what the row names, else to \`${baseline}\``)
  const later = realpathSync(join(directoryOfNode(laterVersion), 'node'))
  const runs = [await runOn(process.execPath), await runOn(later)]
  for (const benchCase of cases.filter(each => !installed.includes(each)))
    console.log(`skipped: ${benchCase.name} (${missingPrograms(benchCase).join(', ')} not installed)`)
  if (options.readme) {
    const file = join(root, 'README.md')
    const section = `<!-- bench -->\n\n${about}\n\n${formatSummary(runs, baseline)}\n\n<!-- /bench -->`
    const text = readFileSync(file, 'utf8')
    writeFileSync(
      file,
      text.replace(/<!-- bench -->.*?<!-- \/bench -->/s, () => section),
    )
  }
} finally {
  service.kill()
  linkProcess?.kill()
  rmSync(folder, { recursive: true, force: true })
}
