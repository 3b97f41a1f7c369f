// What a person does at the console of Windows: Ctrl-C, keys, and a token that is typed.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The time limit of a case, in milliseconds. */
const timeLimit = 60_000

/** The console of Wine has no title, and Node 22 ends when it reads an empty one. */
const titled = { NODE_OPTIONS: '--title=mergeq' }

/**
 * A program that ignores Ctrl-C, and a child that Node would leave running; both add to a file ten times a second.
 */
const stubborn = `process.on('SIGINT', () => undefined)
if (process.argv[2] === undefined)
  require('node:child_process').spawn(process.execPath, [__filename, 'child'], { stdio: 'ignore', detached: true })
setInterval(() => require('node:fs').appendFileSync(__dirname + '/beats.txt', '.'), 100)
setTimeout(() => console.log('started'), 1_000)
`

/** Shell commands that exit with 99 if the file of the program does not exist or still grows. */
const checkQuiet =
  'size() { stat -c %s ../stubborn/beats.txt; }; before=$(size) || exit 99; sleep 1; [ "$(size)" = "$before" ] || exit 99;'

/**
 * Each case runs mergeq in a terminal, waits for `prompt` on the screen, and types `keys`. Ctrl-C where single keys are
 * read (a screen, a prompt) is not tried: the console of Wine loses it.
 */
const cases = [
  {
    title: 'Ctrl-C ends a server with 130',
    words: 'sandbox start',
    prompt: 'press Ctrl-C',
    keys: '\x03',
    code: 130,
    shows: 'stopped by SIGINT.',
  },
  {
    title: 'Ctrl-C ends a wait with 130',
    words: 'sandbox exec -- node bin/mergeq.js pr submit 7 --wait',
    prompt: '#7',
    keys: '\x03',
    code: 130,
    shows: 'stopped by SIGINT.',
  },
  {
    title: 'Ctrl-C ends the command of sandbox exec, and what it started',
    words: 'sandbox exec -- node ../stubborn/run.cjs',
    prompt: 'started',
    keys: '\x03',
    code: 130,
    shows: 'stopped by SIGINT.',
    endsAll: true,
  },
  {
    title: 'the key q ends a screen and restores the terminal',
    words: 'sandbox exec -- node bin/mergeq.js queue watch',
    prompt: 'Press q to quit',
    keys: 'q',
    code: 0,
    shows: '\x1B[?1049l',
  },
  {
    title: 'a typed token is stored and not shown',
    words: 'auth login --no-verify',
    prompt: '(not shown):',
    keys: 'tok_typed_4f2a\r',
    code: 0,
    shows: 'Stored the token for',
    hides: 'tok_typed_4f2a',
  },
]

/** Runs the cases with a Node program of Windows and prints each. Resolves to whether all passed. */
export async function runTerminalCases(wine, node, { cwd, variables }) {
  const folder = join(wine.disk, 'stubborn')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  writeFileSync(join(folder, 'run.cjs'), stubborn)
  let isGood = true
  for (const one of cases) {
    const problem = await tryCase(one, wine, node, { cwd, variables: { ...variables, ...titled } })
    isGood &&= problem === undefined
    console.log(problem === undefined ? ` ✓ ${one.title}` : ` × ${one.title}: ${problem}`)
  }
  return isGood
}

/** Resolves to what is wrong with the result of a case, if anything. */
async function tryCase({ words, prompt, keys, code, shows, hides, endsAll }, wine, node, options) {
  const line = `wine '${node}' bin/mergeq.js ${words}; code=$?; ${endsAll ? checkQuiet : ''} exit $code`
  const child = wine.startInTerminal(line, options)
  let [screen, isTyped] = ['', false]
  child.stdout.setEncoding('utf8').on('data', text => {
    screen += text
    if (isTyped || !screen.includes(prompt)) return
    isTyped = true
    setTimeout(() => child.stdin.write(keys), 500)
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), timeLimit)
  const ended = await new Promise(resolve => child.once('close', resolve))
  clearTimeout(timer)
  const shown = `on the screen: ${JSON.stringify(screen.slice(-600))}`
  if (ended !== code) return `exit code ${ended}, not ${code}; ${shown}`
  // A terminal of 80 columns wraps lines.
  if (!screen.replaceAll('\r\n', '').replaceAll('\r', '').includes(shows)) return `missing text; ${shown}`
  if (hides !== undefined && screen.includes(hides)) return `the token is shown; ${shown}`
  return undefined
}
