import { readFileSync } from 'node:fs'

/** How long what `ps` says is used, in milliseconds. */
const maxAge = 1_000

let lastAnswer = true
let askedAt = -Infinity

/** Whether both are the same process group. A terminal without one, or that of another session, has 0 or -1. */
const isSameGroup = (group = '', ofTerminal = ''): boolean => Number(ofTerminal) <= 0 || group === ofTerminal

function askPs(pid: number): boolean {
  const { execFileSync } = process.getBuiltinModule('node:child_process')
  const args = ['-o', 'pgid=', '-o', 'tpgid=', '-p', String(pid)]
  const out = execFileSync('/bin/ps', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  return isSameGroup(...out.trim().split(/\s+/))
}

/** Whether a process belongs to the foreground of its terminal, unlike one after `&` or `bg`. */
export function isInForeground({ platform, pid }: Pick<NodeJS.Process, 'platform' | 'pid'>): boolean {
  try {
    if (platform === 'linux') {
      const stat = readFileSync('/proc/self/stat', 'utf8')
      // The name of the program, in parentheses, may have blanks.
      const [, , group, , , ofTerminal] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return isSameGroup(group, ofTerminal)
    }
    const now = performance.now()
    if (platform !== 'darwin' || now - askedAt < maxAge) return lastAnswer
    askedAt = now
    lastAnswer = askPs(pid)
    return lastAnswer
  } catch {
    return true
  }
}
