// Measures what calling mergeq costs, as whole processes against `node -e 0` and what people would run instead, and
// prints one table beside the targets. Timings never decide the exit code; a command that does not work does.
//
// With --readme the figures that the README quotes are written into it, with the machine and the date.
//
//     npm run bench -- [--rounds 21] [--node <path>] [--json <file>] [--readme]
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, release, tmpdir, totalmem } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { baseline, cases, trip } from './bench/cases.mjs'
import { cpuMeter, findProgram, memoryMeter, spread, wallTime } from './bench/measure.mjs'
import { figuresOf, summaryOf, tableOf } from './bench/table.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../..')
const warmUps = 3
/** Memory and CPU time vary little: so many rounds are enough. */
const weighings = 7

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '21' },
    node: { type: 'string', default: process.execPath },
    json: { type: 'string' },
    readme: { type: 'boolean', default: false },
  },
})
const rounds = Number(options.rounds)
if (!Number.isInteger(rounds) || rounds < 1)
  throw new Error(`--rounds: '${options.rounds}' is not a number of rounds.`)

/** What the commands see of this environment: nothing that changes Node (NODE_EXTRA_CA_CERTS costs 37 ms), nobody's settings. */
function environment(folder, bin) {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(node_|npm_|mergeq_|trunk_|xdg_)|_proxy$|^path$/i.test(name),
  )
  const { PATH = '' } = process.env
  return { ...Object.fromEntries(kept), HOME: folder, USERPROFILE: folder, PATH: `${bin}${delimiter}${PATH}` }
}

const read = (program, args, env) => execFileSync(program, args, { cwd: root, env, encoding: 'utf8' })

/** What a package made now weighs, and how many packages an install brings. */
function weigh(env) {
  const { npm_execpath: npm } = process.env
  const words = ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error']
  const [packed] = JSON.parse(
    npm === undefined ? read('npm', words, env) : read(process.execPath, [npm, ...words], env),
  )
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  return {
    packedKB: packed.size / 1000,
    unpackedKB: packed.unpackedSize / 1000,
    packages: 1 + Object.keys({ ...dependencies, ...optionalDependencies }).length,
  }
}

/** Runs every case once a round, one after the other, so that what disturbs the machine disturbs all of them. */
function interleaved(running, times, measure) {
  const found = new Map(running.map(({ name }) => [name, []]))
  for (let round = 0; round < times; round++)
    for (const one of running)
      if (round < (one.rounds ?? times)) found.get(one.name).push(measure(one.command, one.setting))
  return found
}

/** Measures all cases; a row for each, with what its case says of targets. */
function measureAll(running, env, folder) {
  interleaved(running, warmUps, wallTime)
  const walls = interleaved(running, rounds, wallTime)
  const [cpu, memory] = [cpuMeter(env), memoryMeter(env, folder)].map(meter =>
    meter === undefined ? undefined : interleaved(running, Math.min(rounds, weighings), meter),
  )
  const median = (found, name) => (found === undefined ? undefined : spread(found.get(name)).median)
  return running.map(({ name, per, quoted, target, peak, megabytes }) => ({
    ...{ name, per, quoted, target, peak, megabytes },
    ms: spread(walls.get(name)),
    cpuMs: median(cpu, name),
    peakMB: median(memory, name),
  }))
}

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-bench-')))
const bin = join(folder, 'bin')
const bare = environment(folder, bin)
const node = realpathSync(options.node)
execFileSync(process.execPath, [join(root, 'scripts/build.mjs')], {
  env: bare,
  stdio: ['ignore', 'ignore', 'inherit'],
})
const service = fork(join(root, 'scripts/bench/service.mjs'), { env: bare })
const linkArguments = [folder, String(trip)]
const far =
  findProgram('openssl', bare.PATH) === undefined
    ? undefined
    : fork(join(root, 'scripts/bench/link.mjs'), linkArguments, { env: bare })
try {
  // A copy is measured: a build that somebody starts meanwhile changes nothing.
  for (const part of ['package.json', 'bin', 'dist'])
    cpSync(join(root, part), join(folder, 'mergeq', part), { recursive: true })
  const linked = far && once(far, 'message')
  const [baseUrl] = await once(service, 'message')
  const [link] = (await linked) ?? []
  const env = { ...bare, MERGEQ_BASE_URL: baseUrl, MERGEQ_TOKEN: 'bench' }
  const stage = { node, launcher: join(folder, 'mergeq/bin/mergeq.js'), folder, bin, baseUrl, link }

  const lacking = ({ needs = [] }) => needs.filter(name => findProgram(name, env.PATH) === undefined)
  const missing = cases.filter(one => lacking(one).length > 0)
  const running = cases
    .filter(one => !missing.includes(one))
    .map(one => {
      one.prepare?.(stage)
      return { ...one, command: one.command(stage), setting: { env, cwd: folder, exit: one.exit } }
    })
  const version = read(node, ['--version'], env).trim()
  console.error(`measuring ${running.length} commands on Node ${version}, ${rounds} rounds each`)
  const measured = measureAll(running, env, folder)
  const figures = figuresOf(measured, baseline, weigh(bare))

  const date = new Date().toISOString()
  const [cpu] = cpus()
  const machine = {
    cpu: cpu?.model.trim(),
    cores: cpus().length,
    memoryGB: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${process.arch} ${release()}`,
  }
  const remarks = missing.map(one => `skipped: ${one.name} (${lacking(one).join(', ')} not installed)`)
  if (measured[0]?.peakMB === undefined) remarks.push('memory: not measured (GNU time missing)')
  if (measured[0]?.cpuMs === undefined) remarks.push('CPU time: not measured (bash missing)')

  console.log(
    `Node ${version}, ${machine.cores} x ${machine.cpu}, ${machine.memoryGB} GB, ${machine.system}, ${date}`,
  )
  console.log(`${rounds} interleaved rounds; figure: the median's ratio to \`${baseline}\`\n`)
  console.log(tableOf(figures))
  if (remarks.length > 0) console.log(`\n${remarks.join('\n')}`)
  if (options.readme) {
    const file = join(root, 'README.md')
    const told = `Node ${version}, ${machine.cores} x ${machine.cpu}, ${machine.system}, ${date.slice(0, 10)}: medians of ${rounds} rounds.`
    const part = `<!-- bench -->\n\n${told}\n\n${summaryOf(figures, baseline)}\n\n<!-- /bench -->`
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(/<!-- bench -->.*?<!-- \/bench -->/s, () => part),
    )
  }
  if (options.json !== undefined)
    writeFileSync(
      options.json,
      `${JSON.stringify({ date, machine, node: version, rounds, figures, remarks }, null, 2)}\n`,
    )
} finally {
  service.kill()
  far?.kill()
  rmSync(folder, { recursive: true, force: true })
}
