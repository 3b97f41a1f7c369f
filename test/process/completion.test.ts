// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shells' own.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { beforeAll, describe, expect, test } from 'vitest'
import { bareEnvironment, launcher, testWith } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// That real shells complete with the scripts. What is offered is in test/cli/completion.test.ts and
// test/cli/completion-values.test.ts.

/** A folder with files to complete, a home, and nothing on the PATH but mergeq. */
const place = temporaryFolder('mergeq completions ')
const work = join(place, 'work')
const home = join(place, 'home')
const programs = join(place, 'programs')
const hostileFiles = ['a$(touch hostile).txt', 'b; touch hostile', 'c\'d"e.txt']
const path = process.env.PATH ?? ''

/** The environment of a shell that finds `mergeq` in a folder; zsh starts the shell of its terminal by name. */
const environmentOf = (shell: string, folder = programs) => ({
  ...bareEnvironment(home),
  PATH: shell === 'zsh' ? `${folder}:${path}` : folder,
  LC_ALL: 'C.UTF-8',
})

/** Writes a program `mergeq`, in JavaScript, into a new folder or an existing one, and returns the folder. */
function writeProgram(folder: string, body: string): string {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'mergeq'), `#!${process.execPath}\n${body}\n`, { mode: 0o755 })
  return folder
}

/** A folder with a program `mergeq` that offers lines. */
const offering = (name: string, lines: readonly string[]): string =>
  writeProgram(
    join(place, name),
    `process.stdout.write(${JSON.stringify(`${lines.join('\n')}\n:nofiles\n`)})`,
  )

beforeAll(() => {
  for (const folder of [work, home]) mkdirSync(folder)
  for (const name of ['targets.txt', 'results.xml', ...hostileFiles]) writeFileSync(join(work, name), '')
  writeProgram(programs, `require(${JSON.stringify(launcher)})`)
})

/** Runs a script in a shell without the settings of the user, and returns what it prints. */
async function runScript(shell: string, lines: readonly string[], folder?: string): Promise<string> {
  const script = join(place, `driver.${shell}`)
  const which = (await execa('sh', ['-c', `command -v ${shell}`])).stdout
  writeFileSync(script, lines.join('\n'))
  const flags = { bash: ['--noprofile', '--norc', '-u'], zsh: ['-f'], fish: ['--no-config'] }[shell] ?? []
  const { stdout, stderr } = await execa(which, [...flags, script], {
    cwd: work,
    env: environmentOf(shell, folder),
    extendEnv: false,
  })
  expect(stderr).toBe('')
  return stdout
}

const single = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
const offeredFile = join(place, 'offered')
const startZsh = `fpath=(${single(resolve('completions'))} $fpath); autoload -Uz compinit; compinit -u -d ${single(join(place, 'zcompdump'))}`
const startBash = `source ${single(resolve('completions/mergeq.bash'))}`

/** Scripts that complete each line, and print `== line`, then what is offered, one a line. */
const drivers = {
  /** Splits a line as readline does, at blanks, `=` and `:`, and calls the function as bash would. */
  bash: (lines: readonly string[]) => [
    startBash,
    'try() {',
    '  local rest=$1 words=()',
    '  while [[ $rest =~ ^[[:space:]]*([=:]+|[^[:space:]=:]+)(.*)$ ]]; do words+=("${BASH_REMATCH[1]}"); rest=${BASH_REMATCH[2]}; done',
    "  if [[ $1 == *' ' ]]; then words+=(''); fi",
    '  COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1))',
    '  _mergeq "${words[0]}" "${words[COMP_CWORD]}" "${words[COMP_CWORD-1]}"',
    '  printf "== %s\\n" "$1"',
    '  if ((${#COMPREPLY[@]})); then printf "%s\\n" "${COMPREPLY[@]}"; fi',
    '}',
    ...lines.map(line => `try ${single(line)}`),
  ],
  /** Completes in an interactive zsh on a terminal of its own, with compadd hooked so that it tells what it adds. */
  zsh: (lines: readonly string[]) => [
    'zmodload zsh/zpty',
    `offered=${single(offeredFile)}; : > $offered`,
    `cat > ${single(join(place, 'inside.zsh'))} <<'END'`,
    startZsh,
    'compadd() {',
    '  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi',
    '  local -a hits',
    '  builtin compadd -A hits "$@"',
    `  (( $#hits )) && print -rl -- $hits >> ${single(offeredFile)}`,
    '  builtin compadd "$@"',
    '}',
    'capture() {',
    '  local line',
    `  for line in ${lines.map(single).join(' ')}; do`,
    `    print -r -- "== $line" >> ${single(offeredFile)}`,
    '    BUFFER=$line CURSOR=$#line',
    '    zle list-choices',
    '  done',
    '  BUFFER=',
    '  print -n COMPLE; print TED',
    '}',
    'zle -N capture; bindkey "^X" capture; print -n REA; print DY',
    'END',
    "zpty inner 'PS1= zsh -f -i'",
    `zpty -w inner ${single(`source ${single(join(place, 'inside.zsh'))}`)}`,
    "zpty -r inner seen '*READY*'",
    "zpty -w -n inner $'\\C-X'",
    "zpty -r inner seen '*COMPLETED*'",
    'zpty -d inner',
    'print -r -- "$(<$offered)"',
  ],
  fish: (lines: readonly string[]) => [
    `source ${single(resolve('completions/mergeq.fish'))}`,
    ...lines.map(
      line => `echo ${single(`== ${line}`)}; complete -C ${single(line)} | string replace -r '\\t.*' ''`,
    ),
    'true',
  ],
} as const

/** What is offered for each line, as it would be typed without quoting. */
async function complete(
  shell: keyof typeof drivers,
  lines: readonly string[],
  folder?: string,
): Promise<readonly (readonly string[])[]> {
  const text = await runScript(shell, drivers[shell](lines), folder)
  const parts = text.split(/^== /m).slice(1)
  expect(parts.map(part => part.split('\n')[0])).toEqual(lines)
  return parts.map(part =>
    part
      .split('\n')
      .slice(1)
      .filter(offer => offer !== '')
      .map(offer => offer.replace(/\\(.)/g, '$1')),
  )
}

/** What is typed, and all that is offered. */
const cases: readonly (readonly [line: string, offers: readonly string[]])[] = [
  ['mergeq -R acme/web --json pr ca', ['cancel']],
  ['mergeq --base-url https://example.com:8443/v1 pr ca', ['cancel']],
  ['mergeq pr submit 7 --priority=u', ['urgent']],
  ['mergeq -o csv pr get --color=', ['always', 'auto', 'never']],
  ['mergeq config set repo ', []],
  ['mergeq sandbox exec -- mergeq t', ['targets.txt']],
  ['mergeq pr get --head $(touch hostile) --exi', ['--exit-status']],
  ['mergeq pr get --head `touch hostile` --exi', ['--exit-status']],
  ['mergeq pr targets 7 --from t', ['targets.txt']],
]

describe.each(['bash', 'zsh', 'fish'] as const)('%s', shell => {
  testWith(shell)('completes commands, options, values and files, and runs nothing of the line', async () => {
    const offers = await complete(
      shell,
      cases.map(([line]) => line),
    )
    const found = cases.map(([line], index) => {
      const begun = line.split(/[ =]/).at(-1) ?? ''
      // fish tells whole words where bash and zsh tell what follows the equals sign, and offers what holds the word
      // somewhere when nothing begins with it.
      const values = (offers[index] ?? []).map(offer => offer.replace(/^--[a-z-]+=/, ''))
      return [line, [...new Set(values.filter(value => value.startsWith(begun)))].sort()]
    })
    expect(found).toEqual(cases)
    expect(existsSync(join(work, 'hostile'))).toBe(false)
  })

  testWith(shell)('offers all commands for no word, and programs for a command line', async () => {
    const [commands = [], run = []] = await complete(shell, ['mergeq ', 'mergeq sandbox exec '])
    expect(commands).toEqual(expect.arrayContaining(['pr', 'queue', 'metrics', 'help', 'completion']))
    expect(commands).not.toContain('submit')
    expect(run).toContain('mergeq')
    expect(run).not.toContain('--repo')
    expect(run).not.toContain('targets.txt')
  })

  testWith(shell)('offers untrusted file names, and does not run them', async () => {
    const lines = ['a', 'b', 'c'].map(letter => `mergeq pr targets 7 --from ${letter}`)
    for (const [index, offers] of (await complete(shell, lines)).entries())
      expect(offers.join('\n')).toContain(hostileFiles[index])
    expect(existsSync(join(work, 'hostile'))).toBe(false)
  })

  testWith(shell)('offers nothing and says nothing where mergeq is missing or fails', async () => {
    const missing = join(place, `missing ${shell}`)
    mkdirSync(missing)
    const failing = writeProgram(
      join(place, `failing ${shell}`),
      "process.stderr.write('an error')\nprocess.exitCode = 1",
    )
    for (const folder of [missing, failing])
      expect(await complete(shell, ['mergeq sand'], folder)).toEqual([[]])
  })

  testWith(shell)('runs the program that was typed, at any path', async () => {
    offering('home', ['elsewhere'])
    expect(await complete(shell, ['~/mergeq ', '../home/mergeq '])).toEqual([['elsewhere'], ['elsewhere']])
  })

  testWith(shell)('offers colons, characters of the shell and unfinished words as they are', async () => {
    const folder = offering(`special ${shell}`, ['v:$(touch hostile)\tA: b', 'v:a b', "v:it's\\"])
    const [offers = []] = await complete(shell, ['mergeq v:'], folder)
    expect(offers.map(offer => offer.replace(/^v:/, '')).sort()).toEqual([
      '$(touch hostile)',
      'a b',
      "it's\\",
    ])
    // zsh and fish quote the words themselves.
    if (shell === 'bash') expect(await complete(shell, ['mergeq "v'], folder)).toEqual([['v:a b']])
    expect(existsSync(join(work, 'hostile'))).toBe(false)
  })
})

/** A shell on a terminal in which somebody types keys, until something shows; `then` prints the result. */
const typing = (program: string, setUp: string, keys: string, until: string, then: string) => [
  'zmodload zsh/zpty',
  `zpty inner ${single(program)}`,
  `zpty -w inner ${single(`${setUp}; printf REA; printf 'DY\\n'`)}`,
  "zpty -r inner seen '*READY*'",
  `zpty -w -n inner $'${keys}'`,
  `zpty -r inner seen '*${until}*'`,
  'zpty -d inner',
  then,
]

describe('on a terminal', () => {
  const terminals = [
    ['bash', 'bash --noprofile --norc -i', startBash],
    ['zsh', 'zsh -f -i', startZsh],
  ] as const

  testWith('zsh').each(terminals)(
    '%s completes with Tab commands, flags, values and the names of files, quoted',
    async (_, program, start) => {
      const given = join(place, 'given')
      // Writes down what it was given.
      const note = `mergeq() { printf '%s\\n' "$@" > ${single(given)}; printf GIV; printf 'EN\\n'; }`
      const keys = 'mergeq pr tar\\t7 --from a\\t--too-la\\tf\\t--color=al\\t\\n'
      const args = await runScript(
        'zsh',
        typing(program, `${start}; ${note}`, keys, 'GIVEN', `print -r -- "$(<${single(given)})"`),
      )
      expect(args.trimEnd().split('\n')).toEqual([
        'pr',
        'targets',
        '7',
        '--from',
        'a$(touch hostile).txt',
        '--too-large',
        'fail',
        '--color=always',
      ])
      expect(existsSync(join(work, 'hostile'))).toBe(false)
    },
  )

  const described = ['141\ttesting: Cache results', '142\tpending: Speed up']

  testWith('zsh').each(terminals)('%s lists values with their descriptions', async (_, program, start) => {
    const folder = offering('described', described)
    const keys = 'mergeq pr get 14\\t\\t'
    const text = await runScript(
      'zsh',
      typing(program, start, keys, 'pending: ', 'print -r -- "$seen"'),
      folder,
    )
    expect(text).toMatch(/141 +(?:-- |\()testing: Cache/)
    expect(text).toMatch(/142 +(?:-- |\()pending: /)
  })
})

describe('PowerShell', () => {
  const script = readFileSync('completions/mergeq.ps1', 'utf8')

  // The grammar is WebAssembly: it would make every later start of a program by this process slow.
  const checker = `
    const { Language, Parser } = require('@vscode/tree-sitter-wasm')
    const { readFileSync } = require('node:fs')
    const grammar = require.resolve('@vscode/tree-sitter-wasm/wasm/tree-sitter-powershell.wasm')
    const texts = JSON.parse(process.argv[1])
    Parser.init()
      .then(() => Language.load(readFileSync(grammar)))
      .then(language => {
        const parser = new Parser().setLanguage(language)
        console.log(JSON.stringify(texts.map(text => parser.parse(text).rootNode.hasError)))
      })
  `

  test('a grammar of PowerShell finds no error in the script', async () => {
    const brace = script.indexOf('}')
    const texts = JSON.stringify([script, script.slice(0, brace) + script.slice(brace + 1)])
    const { stdout } = await execa(process.execPath, ['--liftoff-only', '-e', checker, texts], {
      env: bareEnvironment(home),
      extendEnv: false,
      stdin: 'ignore',
    })
    expect(JSON.parse(stdout)).toEqual([false, true])
  })

  test('it runs no program but the one that was typed', () => {
    expect(script).not.toMatch(/Invoke-Expression|\biex\b|Invoke-Command|Start-Process/i)
    expect(script.match(/[^\w.2>]&\s\S+ \S+/g)).toEqual([' & $program __complete'])
  })
})

testWith('sh')('`mergeq __complete` ends with 0 where its output cannot be written', async () => {
  const line = `"${process.execPath}" "${launcher}" __complete -- pr '' >&-`
  const { exitCode, stderr } = await execa('sh', ['-c', line])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
})
