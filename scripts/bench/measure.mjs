// What one run of a command costs: wall time, CPU time and peak memory of the whole process. Each is measured in runs
// of its own, so that what measures memory or CPU does not lengthen the time.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Runs a command to its end; what does not end as it should measures nothing, so it is an error. */
function run([program, ...args], { env, cwd, exit = 0 }) {
  const started = process.hrtime.bigint()
  const { status, error, stderr } = spawnSync(program, args, {
    env,
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: Number.POSITIVE_INFINITY,
  })
  const ms = Number(process.hrtime.bigint() - started) / 1e6
  if (error !== undefined) throw error
  if (status !== exit)
    throw new Error(`\`${program} ${args.join(' ')}\` ended with ${status} instead of ${exit}:\n${stderr}`)
  return { ms, stderr: stderr.toString() }
}

/** Wall time in milliseconds, from before the start to after the end. */
export const wallTime = (command, setting) => run(command, setting).ms

/**
 * User and system time together, in milliseconds, as bash's `time` tells it (GNU time tells hundredths of a second
 * only); undefined where there is no bash.
 */
export function cpuMeter(env) {
  const bash = findProgram('bash', env.PATH)
  if (bash === undefined) return undefined
  return (command, setting) => {
    const script = 'TIMEFORMAT="%3U %3S"; time "$@" 2>/dev/null'
    const { stderr } = run([bash, '-c', script, 'bash', ...command], setting)
    const [user, system] = stderr.trim().split(/\s+/).map(Number)
    return (user + system) * 1000
  }
}

/**
 * Peak memory (the largest resident set) in MiB, as GNU time tells it; undefined where there is none. A program between
 * this process and the measured one is needed: on Linux a child starts with the peak of the process it was forked from,
 * which here would be a Node of 50 MB.
 */
export function memoryMeter(env, folder) {
  const report = join(folder, 'peak')
  const by = program => [program, '-f', '%M', '-o', report]
  const time = ['time', 'gtime']
    .map(name => findProgram(name, env.PATH))
    .find(
      program => program !== undefined && spawnSync(program, [...by(program).slice(1), 'true']).status === 0,
    )
  if (time === undefined) return undefined
  return (command, setting) => {
    run([...by(time), ...command], setting)
    return Number(readFileSync(report, 'utf8').trim().split('\n').at(-1)) / 1024
  }
}

/** The file that a name on the PATH stands for. */
export const findProgram = (name, path = '') =>
  path
    .split(delimiter)
    .filter(folder => folder !== '')
    .map(folder => join(folder, name))
    .find(isProgram)

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** The least, the middle and the most of some numbers. */
export function spread(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other)
  const middle = (sorted.length - 1) / 2
  const median = (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2
  return { min: sorted[0], median, max: sorted.at(-1) }
}
