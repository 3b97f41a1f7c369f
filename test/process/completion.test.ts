// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shells' own.

import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer, type Socket } from 'node:net'
import { join, resolve } from 'node:path'
import { Language, Parser } from '@vscode/tree-sitter-wasm'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { completionScriptPaths, shells } from '../support/completion-scripts.ts'
import { mergeq, openStory, type Story } from '../support/harness.ts'
import { bareEnvironment, launcher, testWith } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const require = createRequire(import.meta.url)

/** A folder with files to complete, a home, and nothing on the PATH but mergeq. */
const place = temporaryFolder('mergeq completions ')
const work = join(place, 'work')
const home = join(place, 'home')
const programs = join(place, 'programs')
const files = [
  'targets.txt',
  'results.xml',
  'results two.xml',
  'a$(touch hostile).txt',
  'b; touch hostile',
  'c\'d"e.txt',
]
const alone = { ...bareEnvironment(home), PATH: programs, LC_ALL: 'C.UTF-8' }
/** The environment of a zsh that starts the shell of its terminal by name. */
const withPrograms = { ...alone, PATH: `${programs}:${process.env.PATH ?? ''}` }
const environmentOf = (shell: string) => (shell === 'zsh' ? withPrograms : alone)

/** Writes a program that a completion script can run; `body` is JavaScript. */
const writeProgram = (path: string, body: string) =>
  writeFileSync(path, `#!${process.execPath}\n${body}\n`, { mode: 0o755 })

beforeAll(() => {
  for (const folder of [work, home, programs]) mkdirSync(folder)
  for (const name of files) writeFileSync(join(work, name), '')
  writeProgram(join(programs, 'mergeq'), `require(${JSON.stringify(launcher)})`)
})

/** What is typed, what is offered among others, what is not; `only` is all that is offered. */
interface Case {
  readonly line: string
  readonly has?: readonly string[]
  readonly not?: readonly string[]
  readonly only?: readonly string[]
}

const cases: readonly Case[] = [
  { line: 'mergeq ', has: ['pr', 'queue', 'metrics', 'help', 'completion'], not: ['submit', '--repo'] },
  { line: 'mergeq sand', only: ['sandbox'] },
  { line: 'mergeq -R acme/web --json pr ca', only: ['cancel'] },
  { line: 'mergeq --base-url https://example.com:8443/v1 pr ca', only: ['cancel'] },
  {
    line: 'mergeq pr submit --',
    has: ['--priority', '--wait', '--repo', '--help'],
    not: ['--exit-status', '--version'],
  },
  { line: 'mergeq queue update --set a=1 --se', only: ['--set'] },
  { line: 'mergeq pr submit 7 --priority ', only: ['high', 'low', 'medium', 'urgent'] },
  { line: 'mergeq pr submit 7 --priority=u', only: ['urgent'] },
  { line: 'mergeq -o csv pr get --color=', only: ['always', 'auto', 'never'] },
  { line: 'mergeq config set repo ', only: [] },
  { line: 'mergeq sandbox exec ', has: ['mergeq'], not: ['--repo', 'targets.txt'] },
  { line: 'mergeq sandbox exec -- mergeq t', only: ['targets.txt'] },
  { line: 'mergeq __comp', only: [] },
  { line: 'mergeq pr get --head $(touch hostile) --exi', only: ['--exit-status'] },
  { line: 'mergeq pr get --head `touch hostile` --exi', only: ['--exit-status'] },
  { line: 'mergeq pr targets 7 --from t', only: ['targets.txt'] },
  { line: 'mergeq flaky match targets.txt t', only: ['targets.txt'] },
]

type Offers = ReadonlyMap<string, readonly string[]>

/** What a driver printed: `== line`, then what is offered, one a line. */
const offersIn = (text: string): Offers =>
  new Map(
    text
      .split(/^== /m)
      .slice(1)
      .map(part => {
        const [line = '', ...offers] = part.split('\n')
        return [line, offers.filter(offer => offer !== '')]
      }),
  )

async function drive(
  program: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = alone,
  cwd = work,
): Promise<string> {
  const script = join(place, `driver.${program}`)
  const which = (await execa('sh', ['-c', `command -v ${program}`])).stdout
  writeFileSync(script, words.join('\n'))
  const flags = { bash: ['--noprofile', '--norc', '-u'], zsh: ['-f'], fish: ['--no-config'] }[program] ?? []
  const { stdout, stderr } = await execa(which, [...flags, script], { cwd, env, extendEnv: false })
  expect(stderr).toBe('')
  return stdout
}

const single = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Splits a line as readline does, at blanks, `=` and `:`, and calls the function as bash would. */
const bashDriver = (lines: readonly string[]) => [
  `source ${single(resolve(completionScriptPaths.bash))}`,
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
]

/** Completes in an interactive zsh on a terminal of its own, with compadd hooked so that it tells what it adds. */
const zshDriver = (lines: readonly string[]) => [
  'zmodload zsh/zpty',
  `offered=${single(join(place, 'offered'))}; : > $offered`,
  `cat > ${single(join(place, 'inside.zsh'))} <<'END'`,
  `fpath=(${single(resolve('completions'))} $fpath)`,
  'autoload -Uz compinit; compinit -u -D',
  'compadd() {',
  '  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi',
  '  local -a hits',
  '  builtin compadd -A hits "$@"',
  `  (( $#hits )) && print -rl -- $hits >> ${single(join(place, 'offered'))}`,
  '  builtin compadd "$@"',
  '}',
  'capture() {',
  '  local line',
  `  for line in ${lines.map(single).join(' ')}; do`,
  `    print -r -- "== $line" >> ${single(join(place, 'offered'))}`,
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
]

const fishDriver = (lines: readonly string[]) => [
  `source ${single(resolve(completionScriptPaths.fish))}`,
  ...lines.map(
    line => `echo ${single(`== ${line}`)}; complete -C ${single(line)} | string replace -r '\\t.*' ''`,
  ),
  'true',
]

/** fish tells whole words where bash and zsh tell what follows the equals sign. */
const valueAlone = (offer: string): string => offer.replace(/^--[a-z-]+=/, '')

const drivers = { bash: bashDriver, zsh: zshDriver, fish: fishDriver } as const

describe.each(['bash', 'zsh', 'fish'] as const)('completion in %s', shell => {
  let offers: Offers = new Map()
  let milliseconds = Number.POSITIVE_INFINITY

  beforeAll(async () => {
    // A machine without the shell skips the tests below by name.
    const stands = await execa('sh', ['-c', `command -v ${shell}`], { reject: false })
    if (stands.exitCode !== 0) return
    const started = performance.now()
    const lines = cases.map(({ line }) => line)
    offers = offersIn(await drive(shell, drivers[shell](lines), environmentOf(shell)))
    milliseconds = performance.now() - started
  }, 60_000)

  testWith(shell).each(cases)('$line', ({ line, has = [], not = [], only }) => {
    const offered = (offers.get(line) ?? expect.fail(`${line} was not completed`)).map(valueAlone)
    const isFlag = line.endsWith('=') || /=\S*$/.test(line)
    // fish offers what holds the word somewhere when nothing begins with it.
    const begun = line.split(/[ =]/).at(-1) ?? ''
    const exact = [...new Set(offered.filter(one => isFlag || one.startsWith(begun)))].sort()
    if (only !== undefined) expect(exact).toEqual([...only].sort())
    expect(offered).toEqual(expect.arrayContaining([...has]))
    for (const one of not) expect(offered).not.toContain(one)
  })

  testWith(shell)('nothing that is completed is run, and each Tab takes less than 500 ms', () => {
    expect(existsSync(join(work, 'hostile'))).toBe(false)
    expect(milliseconds / cases.length).toBeLessThan(500)
  })

  testWith(shell)('untrusted file names are offered and not run', async () => {
    const lines = ['a', 'b', 'c'].map(letter => `mergeq pr targets 7 --from ${letter}`)
    const found = offersIn(await drive(shell, drivers[shell](lines), environmentOf(shell)))
    for (const [index, line] of lines.entries()) {
      const plain = (found.get(line) ?? []).map(offer => offer.replace(/\\(.)/g, '$1'))
      expect(plain.join('\n')).toContain(files[index + 3])
    }
    expect(existsSync(join(work, 'hostile'))).toBe(false)
  })

  const complete = async (line: string, env: Readonly<Record<string, string>>, driver = drivers[shell]) =>
    offersIn(await drive(shell, driver([line]), env)).get(line)

  testWith(shell)('settings that cannot be read do not change completions', async () => {
    const fifo = join(place, `fifo ${shell}`)
    mkdirSync(fifo)
    await execa('mkfifo', [join(fifo, 'config.json')])
    const env = environmentOf(shell)
    for (const settings of [
      { MERGEQ_CONFIG_DIR: fifo },
      { MERGEQ_CONFIG_DIR: 'relative', MERGEQ_OUTPUT: 'xml' },
      { HOME: '/dev/null' },
    ])
      expect(await complete('mergeq sand', { ...env, ...settings })).toEqual(['sandbox'])
  })

  testWith(shell)('a mergeq that is missing or fails offers nothing and says nothing', async () => {
    const [missing, failing] = ['missing', 'failing'].map(name => join(place, `${name} ${shell}`)) as [
      string,
      string,
    ]
    for (const folder of [missing, failing]) mkdirSync(folder)
    writeProgram(join(failing, 'mergeq'), "process.stderr.write('an error')\nprocess.exitCode = 1")
    for (const folder of [missing, failing]) {
      const rest = shell === 'zsh' ? `:${process.env.PATH ?? ''}` : ''
      expect(await complete('mergeq sand', { ...alone, PATH: `${folder}${rest}` })).toEqual([])
    }
  })

  testWith(shell)('the script runs the program that was typed, at any path', async () => {
    writeProgram(join(home, 'mergeq'), "process.stdout.write('elsewhere\\n:nofiles\\n')")
    for (const program of ['~/mergeq', '../home/mergeq'])
      expect(await complete(`${program} `, environmentOf(shell))).toEqual(['elsewhere'])
  })

  testWith(shell)(
    'colons, characters of the shell and unfinished words are offered as they are',
    async () => {
      const folder = join(place, `special ${shell}`)
      mkdirSync(folder)
      const values = ['v:$(touch hostile)\tA: b', 'v:a b', "v:it's\\"]
      writeProgram(
        join(folder, 'mergeq'),
        `process.stdout.write(${JSON.stringify(`${values.join('\n')}\n:nofiles\n`)})`,
      )
      const rest = shell === 'zsh' ? `:${process.env.PATH ?? ''}` : ''
      const offered = await complete('mergeq v:', { ...alone, PATH: `${folder}${rest}` })
      const plain = offered?.map(value => value.replace(/\\(.)/g, '$1').replace(/^v:/, ''))
      expect(plain?.sort()).toEqual(['$(touch hostile)', 'a b', "it's\\"])
      // zsh and fish quote the words themselves.
      if (shell === 'bash') expect(await complete('mergeq "v', { ...alone, PATH: folder })).toEqual(['v:a b'])
      expect(existsSync(join(work, 'hostile'))).toBe(false)
    },
  )
})

describe('values from a sandbox and a checkout', () => {
  const checkout = join(place, 'checkout')
  let story: Story
  let env: Readonly<Record<string, string>>

  beforeAll(async () => {
    story = await openStory()
    await story.mergeq('pr submit 141 142 7')
    story.clock.now += 1_000
    const config = join(home, 'config')
    mkdirSync(config)
    writeFileSync(join(config, 'config.json'), '{"profiles":{"work":{"repo":"acme/api"}}}', { mode: 0o600 })
    const { MERGEQ_BASE_URL = '', MERGEQ_TOKEN = '' } = story.env
    env = { ...withPrograms, MERGEQ_CONFIG_DIR: config, MERGEQ_BASE_URL, MERGEQ_TOKEN }
    const git = (...args: readonly string[]) => execa('git', args, { cwd: checkout })
    mkdirSync(checkout)
    await git('init', '--quiet')
    await git('remote', 'add', 'origin', 'git@github.com:acme/web.git')
    await git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--allow-empty', '-m', 'a')
    for (const branch of ['main', 'fix-cart', 'hostile$(touch${IFS}hostile)'])
      await git('update-ref', `refs/remotes/origin/${branch}`, 'HEAD')
    await git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main')
  }, 60_000)
  afterAll(() => story.close())

  // A machine under load may not find the values within the second, so these tests are repeated.
  const cases: readonly (readonly [line: string, offers: readonly string[]])[] = [
    ['mergeq pr get ', ['141', '142', '7']],
    ['mergeq pr get 141 14', ['142']],
    ['mergeq pr testing --pr=14', ['141', '142']],
    ['mergeq pr get -b release ', []],
    ['mergeq -b ', ['fix-cart', 'hostile$(touch${IFS}hostile)', 'main']],
    ['mergeq pr get --head fix', ['fix-cart']],
    ['mergeq --profile w', ['work']],
  ]

  describe.each(['bash', 'zsh', 'fish'] as const)('in %s', shell => {
    testWith(shell)('are offered, and not run', { retry: 2 }, async () => {
      const lines = cases.map(([line]) => line)
      const offers = offersIn(await drive(shell, drivers[shell](lines), env, checkout))
      const valuesOf = (line: string) =>
        (offers.get(line) ?? []).map(offer => valueAlone(offer.replace(/\\(.)/g, '$1')))
      expect(lines.map(line => [line, [...new Set(valuesOf(line))].sort()])).toEqual(cases)
      expect(existsSync(join(checkout, 'hostile'))).toBe(false)
    })
  })

  /** Lists the pull requests that begin with 14 in a shell on a terminal, and prints what it shows. */
  const listing = (program: string, setUp: string) => [
    'zmodload zsh/zpty',
    `zpty inner ${single(program)}`,
    `zpty -w inner ${single(`${setUp}; printf REA; printf 'DY\\n'`)}`,
    "zpty -r inner seen '*READY*'",
    "zpty -w -n inner $'mergeq pr get 14\\t\\t'",
    "zpty -r inner seen '*pending: *'",
    'zpty -d inner',
    'print -r -- "$seen"',
  ]

  testWith('zsh').each([
    ['bash', listing('bash --noprofile --norc -i', `source ${single(resolve(completionScriptPaths.bash))}`)],
    [
      'zsh',
      listing(
        'zsh -f -i',
        `fpath=(${single(resolve('completions'))} $fpath); autoload -Uz compinit; compinit -u -D`,
      ),
    ],
  ])('have their states and titles in %s', { retry: 2 }, async (_, words) => {
    const text = await drive('zsh', words, env, checkout)
    expect(text).toMatch(/141 +(?:-- |\()testing: \S/)
    expect(text).toMatch(/142 +(?:-- |\()pending: /)
  })

  testWith('fish')('have their states and titles in fish', { retry: 2 }, async () => {
    const text = await drive('fish', fishDriver([]).with(-1, "complete -C 'mergeq pr get 14'"), env, checkout)
    expect(text).toMatch(/^141\ttesting: \S.*\n142\tpending: \S.*$/)
  })
})

describe('a slow service', () => {
  const sendSlowly = (socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{')
    const timer = setInterval(() => socket.write(' '), 100)
    socket.on('close', () => clearInterval(timer)).on('error', () => undefined)
  }

  test.each<readonly [what: string, respond: (socket: Socket) => void]>([
    ['does not respond', () => undefined],
    ['sends its response in small pieces', sendSlowly],
  ])('that %s delays a completion by a second at most, and static words not at all', async (_, respond) => {
    const server = createServer(respond).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const env = {
      ...bareEnvironment(home),
      MERGEQ_BASE_URL: `http://127.0.0.1:${port}/v1`,
      MERGEQ_TOKEN: 'token',
      MERGEQ_REPO: 'acme/web',
      MERGEQ_TARGET_BRANCH: 'main',
    }
    const press = async (...words: readonly string[]) => {
      const started = performance.now()
      const args = [launcher, '__complete', '--', ...words]
      const { stdout, stderr, exitCode } = await execa(process.execPath, args, { env, extendEnv: false })
      return { stdout, stderr, exitCode, elapsed: performance.now() - started }
    }
    try {
      const values = await press('pr', 'get', '')
      expect(values).toMatchObject({ stdout: ':nofiles', stderr: '', exitCode: 0 })
      expect(values.elapsed).toBeGreaterThan(900)
      expect(values.elapsed).toBeLessThan(2_500)
      const words = await press('pr', 'wait', '7', '--until', 'm')
      expect(words).toMatchObject({ stdout: 'merged\n:nofiles', stderr: '', exitCode: 0 })
      expect(words.elapsed).toBeLessThan(values.elapsed - 300)
    } finally {
      server.close()
    }
  })
})

/** A shell on a terminal in which somebody types: `mergeq` there writes down what it was given. */
const typing = (program: string, setUp: string, keys: string) => [
  'zmodload zsh/zpty',
  `zpty inner ${single(program)}`,
  `zpty -w inner ${single(setUp)}`,
  "zpty -r inner seen '*READY*'",
  `zpty -w inner $'${keys}'`,
  "zpty -r inner seen '*GIVEN*'",
  'zpty -d inner',
  `print -r -- "$(<${single(join(place, 'given'))})"`,
]

describe('typed with Tab on a terminal', () => {
  const note = `mergeq() { printf '%s\\n' "$@" > ${single(join(place, 'given'))}; printf GIV; printf 'EN\\n'; }`
  const inBash = `source ${single(resolve(completionScriptPaths.bash))}; ${note}; printf REA; printf 'DY\\n'`
  const inZsh = `fpath=(${single(resolve('completions'))} $fpath); autoload -Uz compinit; compinit -u -D; ${note}; printf REA; printf 'DY\\n'`

  testWith('zsh').each([
    ['bash', 'bash --noprofile --norc -i', inBash],
    ['zsh', 'zsh -f -i', inZsh],
  ])('%s completes commands, flags, values and the names of files, quoted', async (_, program, setUp) => {
    const keys = 'mergeq pr tar\\t7 --from a\\t--too-la\\tf\\t--color=al\\t'
    const args = await drive('zsh', typing(program, setUp, keys), withPrograms)
    expect(args.trimEnd().split('\n')).toEqual([
      ...['pr', 'targets', '7', '--from', 'a$(touch hostile).txt', '--too-large', 'fail', '--color=always'],
    ])
    expect(existsSync(join(work, 'hostile'))).toBe(false)
  })
})

describe('PowerShell', () => {
  const script = readFileSync(completionScriptPaths.powershell, 'utf8')

  test('a grammar of PowerShell finds no error in the script', async () => {
    await Parser.init()
    const grammar = require.resolve('@vscode/tree-sitter-wasm/wasm/tree-sitter-powershell.wasm')
    const parser = new Parser().setLanguage(await Language.load(readFileSync(grammar)))
    const hasError = (text: string) => parser.parse(text)?.rootNode.hasError
    expect(hasError(script)).toBe(false)
    const braces = [...script.matchAll(/[{}]/g)]
    expect(braces.length).toBeGreaterThan(10)
    for (const { index } of braces)
      expect(hasError(script.slice(0, index) + script.slice(index + 1)), `without ${index}`).toBe(true)
  })

  test('it runs no program but the one that was typed', () => {
    expect(script).not.toMatch(/Invoke-Expression|\biex\b|Invoke-Command|Start-Process/i)
    expect(script.match(/[^\w.2>]&\s\S+ \S+/g)).toEqual([' & $program __complete'])
  })
})

describe('`mergeq completion`', () => {
  test.each(shells)('%s prints the script of the package, and needs no settings', async shell => {
    const env = { MERGEQ_TOKEN: '', MERGEQ_OUTPUT: 'xml', MERGEQ_CONFIG_DIR: '/dev/null' }
    const { code, out, err, requests } = await mergeq(`completion ${shell}`, { env })
    expect({ code, err, requests }).toEqual({ code: 0, err: '', requests: [] })
    expect(out).toBe(readFileSync(completionScriptPaths[shell], 'utf8'))
    const built = await execa(process.execPath, [launcher, 'completion', shell], {
      env: bareEnvironment('/nowhere'),
      extendEnv: false,
      stripFinalNewline: false,
    })
    expect({ out: built.stdout, err: built.stderr }).toEqual({ out, err: '' })
  })

  test.each([
    ['completion tcsh', "There is no completion script for 'tcsh'."],
    ['completion', "missing required argument 'shell'"],
  ])('%s is refused', async (words, says) => {
    const { code, out, err } = await mergeq(words)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(says)
    expect(err).toMatch(/\n {2}\S/)
  })
})

describe('`mergeq __complete`', () => {
  test.each([
    ['__complete -- pr sub', 'submit\tSubmit pull requests to the queue for testing and merging\n:nofiles\n'],
    ['__complete -- pr targets 7 --from ""', ':files\n'],
    ['__complete -- completion --help ba', 'bash\n:nofiles\n'],
    ['__complete pr sub', 'submit\tSubmit pull requests to the queue for testing and merging\n:nofiles\n'],
    ['__complete -- pr submit --output xml --retries many --wai', '--wait\t'],
  ])('%s needs no settings, sends nothing and ends with 0', async (line, says) => {
    const env = { MERGEQ_TOKEN: '', MERGEQ_OUTPUT: 'xml', MERGEQ_CONFIG_DIR: '/dev/null', CI: 'true' }
    const { code, out, err, requests } = await mergeq(line, { env })
    expect({ code, err, requests }).toEqual({ code: 0, err: '', requests: [] })
    expect(out.startsWith(says)).toBe(true)
  })

  test('without words it offers what can follow mergeq', async () => {
    const { code, out, err } = await mergeq('__complete')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^pr\t/)
  })

  testWith('sh')('an output that cannot be written is not an error', async () => {
    const line = `"${process.execPath}" "${launcher}" __complete -- pr '' >&-`
    const { exitCode, stderr } = await execa('sh', ['-c', line], { env: withPrograms, extendEnv: false })
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  })
})
