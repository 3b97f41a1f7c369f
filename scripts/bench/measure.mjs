// Measures one run of a command: wall time, CPU time and peak memory of the whole process. Each is measured
// in separate runs, so that the programs that measure memory and CPU time do not add to the wall time.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * Runs a command and waits for its end. Returns the wall time in milliseconds and standard error. Throws if
 * the exit code is not `exit`: a command that does not work measures nothing.
 */
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
    throw new Error(`\`${program} ${args.join(' ')}\` exited with ${status} instead of ${exit}:\n${stderr}`)
  return { ms, stderr: stderr.toString() }
}

/** Wall time of a command in milliseconds, including the start of the process. */
export const wallTime = (command, setting) => run(command, setting).ms

/**
 * A function that measures user and system time together, in milliseconds, with bash's `time` (GNU time
 * reports only hundredths of a second); undefined if bash is not installed.
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
 * A function that measures peak memory (maximum resident set size) in MiB with GNU time; undefined if GNU
 * time is not installed. A small program between this process and the measured one is necessary: on Linux a
 * child process starts with the peak of the process that forked it, which would be 50 MB of Node.
 */
export function memoryMeter(env, folder) {
  const report = join(folder, 'peak')
  const timeCommand = program => [program, '-f', '%M', '-o', report]
  const time = ['time', 'gtime']
    .map(name => findProgram(name, env.PATH))
    .find(
      program =>
        program !== undefined && spawnSync(program, [...timeCommand(program).slice(1), 'true']).status === 0,
    )
  if (time === undefined) return undefined
  return (command, setting) => {
    run([...timeCommand(time), ...command], setting)
    return Number(readFileSync(report, 'utf8').trim().split('\n').at(-1)) / 1024
  }
}

/** The path of an executable file found on the PATH; undefined if there is none. */
export const findProgram = (name, path = '') =>
  path
    .split(delimiter)
    .filter(folder => folder !== '')
    .map(folder => join(folder, name))
    .find(isExecutable)

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** Minimum, median and maximum of a non-empty list of numbers. */
export function summarize(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  const median = (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2
  return { min: sorted[0], median, max: sorted.at(-1) }
}
