import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import { parseRepository } from '../../src/values/repository.ts'
import { head, merge, recordedJobs } from '../support/ci-jobs.ts'
import { blocksOf } from '../support/code-blocks.ts'
import { adaptForTest, residentPrograms, type Variables } from '../support/documentation-runs.ts'
import { npmEnvironment, packPackage } from '../support/package.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

interface Step {
  readonly name?: string
  readonly id?: string
  readonly if?: string
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, string | boolean>>
  readonly env?: Variables
}

interface Recipe {
  readonly steps: readonly Step[]
  readonly env?: Variables
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string; readonly description: string }>>
  readonly outputs: Readonly<Record<string, { readonly value: string; readonly description: string }>>
  readonly runs: { readonly using: string; readonly steps: readonly Step[] }
}

const action: Action = parse(readFileSync('action.yml', 'utf8'))
const recording = recordedJobs.github ?? expect.fail('no jobs of GitHub')
const root = temporaryFolder('mergeq-action-')
let tarball = ''

/** The files by which a step speaks to the runner, as the runner reads them. */
function readAssignments(path: string): Variables {
  const values: Record<string, string> = {}
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? ''
    const [, name = '', end = ''] = /^([\w-]+)<<(.+)$/.exec(line) ?? []
    const stop = end === '' ? -1 : lines.indexOf(end, index)
    if (stop > 0) {
      values[name] = lines.slice(index + 1, stop).join('\n')
      index = stop
    } else if (/^[\w-]+=/.test(line))
      values[line.slice(0, line.indexOf('='))] = line.slice(line.indexOf('=') + 1)
  }
  return values
}

/** A runner of one job: it runs steps in a shell, with the variables that GitHub sets. */
class Job {
  readonly place = mkdtempSync(join(root, 'job-'))
  readonly outputs: Record<string, Variables> = {}
  readonly log: string[] = []
  #env: Record<string, string>
  #count = 0

  constructor(env: Variables, job = 'pull request') {
    const { env: variables, event } = recording.jobs[job] ?? expect.fail(`no job ${job}`)
    const temp = join(this.place, 'with spaces')
    mkdirSync(temp)
    writeFileSync(join(this.place, 'event.json'), JSON.stringify(event))
    this.#env = {
      ...recording.common,
      ...variables,
      ...npmEnvironment(this.place),
      GITHUB_ACTION_PATH: resolve('.'),
      GITHUB_EVENT_PATH: join(this.place, 'event.json'),
      GITHUB_STEP_SUMMARY: join(this.place, 'summary'),
      RUNNER_TEMP: temp,
      ...env,
    }
  }

  /** The value of a text with expressions of the kinds that the action and the recipes use. */
  #evaluate(text: string, inputs: Variables): string {
    const filled = text.replace(/\$\{\{ github\.event\.pull_request\.head\.sha \}\}/, head)
    return filled.replace(
      /\$\{\{ (?:(fromJSON)\()?(inputs|steps|secrets)\.([\w-]+)(?:\.outputs\.([\w-]+))?\)?(?:\.(\w+))?(?: \|\| '([^']*)')? \}\}/g,
      (_, isJson, kind, name, output, field, otherwise = '') => {
        if (kind === 'inputs') return inputs[name] ?? ''
        if (kind === 'secrets') return 'sandbox'
        const value = this.outputs[name]?.[output] || otherwise
        return isJson === undefined ? value : String(JSON.parse(value)[field])
      },
    )
  }

  /** Runs a step of a workflow; the exit code of the last script. */
  async step(step: Step, inputs: Variables = {}): Promise<number> {
    if (step.uses?.startsWith('actions/checkout@')) return this.checkOut()
    if (step.uses !== undefined) return this.use(step)
    const [, tested] = /^inputs\.([\w-]+) != ''$/.exec(step.if ?? '') ?? []
    if (tested !== undefined && inputs[tested] === '') return 0
    expect(step.run).not.toMatch(/\$\{\{/)
    const file = (name: string) => join(this.place, `${name}-${this.#count}`)
    this.#count++
    const env = Object.entries(step.env ?? {}).map(([name, value]) => [name, this.#evaluate(value, inputs)])
    const script = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run ?? '']
    const { exitCode, all } = await execa('bash', script, {
      cwd: this.place,
      env: {
        ...this.#env,
        GITHUB_PATH: file('path'),
        GITHUB_ENV: file('env'),
        GITHUB_OUTPUT: file('output'),
        ...Object.fromEntries(env),
      },
      extendEnv: false,
      all: true,
      reject: false,
      stdin: 'ignore',
    })
    this.log.push(all)
    if (step.id !== undefined) this.outputs[step.id] = readAssignments(file('output'))
    Object.assign(this.#env, readAssignments(file('env')))
    if (existsSync(file('path')))
      this.#env.PATH = `${readFileSync(file('path'), 'utf8').trim()}:${this.#env.PATH}`
    return exitCode ?? 1
  }

  /** From now on, the programs of all steps fail. */
  breakPrograms(): void {
    const broken = mkdtempSync(join(this.place, 'broken-'))
    for (const name of ['npm', 'mergeq', 'gh'])
      writeFileSync(join(broken, name), '#!/bin/sh\necho partial\nexit 1\n', { mode: 0o755 })
    this.#env.PATH = `${broken}:${this.#env.PATH}`
  }

  /** A checkout whose remote says what the head of a pull request is: `HEAD_NOW`, or that of the event. */
  async checkOut(): Promise<number> {
    await execa('git', ['init', '-q'], { cwd: this.place })
    await execa('git', ['remote', 'add', 'origin', 'https://github.com/acme/web'], { cwd: this.place })
    const programs = join(this.place, 'programs')
    mkdirSync(programs)
    const git = `case "$*" in *ls-remote*) printf '%s\\trefs/pull/123/head\\n' "\${HEAD_NOW-${head}}" ;; *) exec ${(await execa('which', ['git'])).stdout} "$@" ;; esac`
    writeFileSync(join(programs, 'git'), `#!/bin/sh\n${git}\n`, { mode: 0o755 })
    this.#env.PATH = `${programs}:${this.#env.PATH}`
    return 0
  }

  /** Runs the action with the inputs of a step. */
  async use(step: Pick<Step, 'id' | 'with'>): Promise<number> {
    const given = Object.entries(step.with ?? {}).map(([name, value]) => [
      name,
      this.#evaluate(adaptForTest(String(value)), {}),
    ])
    for (const [name = ''] of given) expect(Object.keys(action.inputs)).toContain(name)
    const inputs: Variables = {
      ...Object.fromEntries(Object.entries(action.inputs).map(([name, input]) => [name, input.default])),
      version: `file:${tarball}`,
      ...Object.fromEntries(given),
    }
    delete this.outputs.run
    let code = 0
    for (const one of action.runs.steps) {
      code = await this.step(one, inputs)
      if (code !== 0) break
    }
    const values = Object.entries(action.outputs).map(([name, { value }]) => [
      name,
      this.#evaluate(value, {}),
    ])
    if (step.id !== undefined) this.outputs[step.id] = Object.fromEntries(values)
    return code
  }

  get summary(): string {
    const path = join(this.place, 'summary')
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }
}

describe('the action', { timeout: 90_000 }, () => {
  let sandbox: Sandbox
  const programs = join(root, 'programs')
  /** A job, by default with an npm that links what was installed once. */
  const newJob = (env: Variables = {}, job?: string) =>
    new Job(
      {
        PATH: `${programs}:${process.env.PATH}`,
        MERGEQ_BASE_URL: sandbox.baseUrl,
        MERGEQ_ORG: sandbox.org,
        ...env,
      },
      job,
    )
  beforeAll(async () => {
    tarball = (await packPackage()).tarball
    // One test installs the package with npm, and runs it.
    const installed = join(root, 'installed')
    mkdirSync(join(installed, 'bin'), { recursive: true })
    symlinkSync(join(residentPrograms, 'mergeq'), join(installed, 'bin/mergeq'))
    mkdirSync(programs)
    // Its words are: install --global --prefix <folder>, options and a package.
    const script = `#!/bin/sh\necho "$*"\nrm -rf "$4"\nln -s '${installed}' "$4"\n`
    writeFileSync(join(programs, 'npm'), script, { mode: 0o755 })
  }, 60_000)
  beforeEach(async () => {
    const queues = [{ repo: parseRepository('acme/web'), targetBranch: 'release/2.4' }]
    sandbox = await startSandbox({ speed: 20, now: Date.now, queues })
  })
  afterEach(() => sandbox.close())

  test('is described: inputs, outputs and where they come from', () => {
    const guide = readFileSync('docs/github-action.md', 'utf8')
    expect(action.runs.using).toBe('composite')
    for (const [name, { description }] of Object.entries({ ...action.inputs, ...action.outputs })) {
      expect(guide).toContain(`\n| \`${name}\` | `)
      expect(description).not.toBe('')
    }
    expect(action.runs.steps.every(step => 'shell' in step)).toBe(true)
  })

  test('installs mergeq for later steps with npm, and masks the token', async () => {
    const job = newJob({ PATH: process.env.PATH ?? '' })
    expect(await job.use({ with: { token: 'sandbox', 'export-token': true } })).toBe(0)
    expect(job.log.join('\n')).toMatch(/^\d+\.\d+\.\d+(?:\+[0-9a-f]{8}(?:\.changed)?)?\n::add-mask::sandbox/m)
    expect(await job.step({ run: 'mergeq queue get --json', id: 'later' })).toBe(0)
    expect(JSON.parse(job.log.join('\n').split('\n').at(-1) ?? '')).toMatchObject({ branch: 'release/2.4' })
  })

  test('installs its own version by default, and gives the token to no other step', async () => {
    const job = newJob()
    expect(await job.use({ id: 'get', with: { version: '', token: 'sandbox', command: 'queue get' } })).toBe(
      0,
    )
    expect(job.log[0]).toContain(` mergeq@${manifest.version}\n`)
    expect(await job.step({ run: 'test -z "$MERGEQ_TOKEN"' })).toBe(0)
    expect(await job.use({ id: 'none', with: { token: 'sandbox' } })).toBe(0)
    expect(job.outputs.none).toMatchObject({ json: '{}', summary: '' })
    expect(await job.use({ id: 'silent', with: { command: 'config set color never' } })).toBe(0)
    expect(job.outputs.silent).toMatchObject({ json: '{}' })
  })

  test('in a pull request from a fork, without a token, says so in every output', async () => {
    const job = newJob({}, 'fork pull request')
    expect(await job.use({ id: 'get', with: { token: '', command: 'pr get' } })).toBe(4)
    const { json = '', summary = '', 'exit-code': code, 'json-file': file = '' } = job.outputs.get ?? {}
    const { message, hint } = JSON.parse(json).error
    expect({ code, message }).toEqual({ code: '4', message: expect.stringMatching(/^No API token/) })
    expect(summary.replaceAll('\\', '')).toBe(`${message}\n\n${hint}\n\nExit code of pr get: 4`)
    expect(readFileSync(file, 'utf8')).toBe(`${json}\n`)
    const targets = { token: '', command: 'pr targets web', 'allow-failure': false }
    expect({ code: await job.use({ with: targets }), log: job.log }).toMatchObject({ code: 0 })
  })

  test('masks a token with a percent sign as the runner reads it, and takes none with a line break', async () => {
    const job = newJob()
    expect(await job.use({ with: { token: 'sand%41box' } })).toBe(0)
    expect(job.log.join('\n')).toContain('\n::add-mask::sand%2541box')
    expect(await job.use({ with: { token: 'a\nNODE_OPTIONS=--bad' } })).toBe(1)
    expect(job.log.join('\n')).not.toContain('NODE_OPTIONS')
  })

  test('exposes the JSON and the exit code of a command, with or without a newline at the end', async () => {
    const job = newJob()
    const command = 'mergeq pr get 7 --fields "state,prNumber"'
    const failing = { id: 'get', with: { token: 'sandbox', command, 'allow-failure': true } }
    expect(await job.use(failing)).toBe(0)
    expect(job.outputs.get).toMatchObject({
      'exit-code': '5',
      summary: expect.stringMatching(/not in the queue/),
    })
    expect(JSON.parse(job.outputs.get?.json ?? '')).toMatchObject({ error: { kind: 'not-found', exit: 5 } })
    expect(await job.use({ with: { token: 'sandbox', command: 'pr submit 7' } })).toBe(0)
    expect(await job.use(failing)).toBe(0)
    const { json = '', 'json-file': file = '' } = job.outputs.get ?? {}
    expect(JSON.parse(json)).toEqual({ state: expect.any(String), prNumber: 7 })
    expect(readFileSync(file, 'utf8')).toBe(`${json}\n`)
    expect(await job.use({ with: { token: 'sandbox', command: 'pr get 99' } })).toBe(5)
    expect(await job.use({ id: 'get', with: { token: 'sandbox', command: 'api getQueue' } })).toBe(0)
    expect(JSON.parse(job.outputs.get?.json ?? '')).toMatchObject({ branch: 'release/2.4' })
  })

  test('shows failing checks in the log, and gives them as JSON and as a summary', async () => {
    await sandbox.close()
    const queues = [{ repo: parseRepository('acme/web'), targetBranch: 'release/2.4' }]
    sandbox = await startSandbox({ speed: 20, now: Date.now, queues, scenario: 'failure' })
    const job = newJob()
    const run = async (command: string) => {
      const code = await job.use({ id: 'run', with: { token: 'sandbox', command, 'allow-failure': true } })
      return { code, outputs: job.outputs.run ?? {} }
    }
    const { code, outputs: failed } = await run('pr submit 9 --wait')
    expect({ code, exit: failed['exit-code'] }).toEqual({ code: 0, exit: '3' })
    const { reason, failingChecks } = JSON.parse(failed.json ?? '')
    const [{ name, url }] = failingChecks
    expect(job.log.join('\n')).toContain(`\n#9: ${name} failed: ${url}\n`)
    expect(failed.summary).toBe(
      `${reason}\n- [${name}](<${url}>)\n\nExit code of pr submit 9 --wait --interval 1s: 3`,
    )
    const { outputs: shown } = await run('pr get 9')
    expect(shown).toMatchObject({ 'exit-code': '0', summary: 'Exit code of pr get 9: 0' })
    expect(JSON.parse(shown.json ?? '')).toMatchObject({ state: 'FAILED' })
    const { outputs: checked } = await run('queue check --only --max-depth 0')
    expect(checked).toMatchObject({
      'exit-code': '0',
      summary: 'All checks passed.\n\nExit code of queue check --only --max-depth 0: 0',
    })
    expect(JSON.parse(checked.json ?? '')).toMatchObject({ ok: true })
  })

  test('runs no part of a command as a shell', async () => {
    const job = newJob()
    const command = 'api status $(touch ran) `touch ran` ; touch ran "&& touch ran"'
    expect(await job.use({ with: { command } })).toBe(2)
    expect(existsSync(join(job.place, 'ran'))).toBe(false)
  })

  test('a quote without its end has an exit code and an error', async () => {
    const job = newJob()
    const command = "pr submit 9 --set note=it's"
    expect(await job.use({ id: 'run', with: { token: 'sandbox', command } })).toBe(2)
    const { json = '', summary = '', 'exit-code': code } = job.outputs.run ?? {}
    expect({ code, ...JSON.parse(json).error }).toMatchObject({ code: '2', kind: 'usage', exit: 2 })
    expect(summary).toMatch(/^The input "command" has a quote without its end\. Nothing was run\.\n\nWrite /)
    expect(await job.use({ with: { command, 'allow-failure': true } })).toBe(0)
  })

  test('the summary says a thing once', async () => {
    const job = newJob()
    const command = 'pr land 8 9 -b nope'
    expect(await job.use({ id: 'run', with: { token: 'sandbox', command } })).toBe(5)
    const lines = (job.outputs.run?.summary ?? '').split('\n').filter(line => line !== '')
    expect(lines).toEqual([...new Set(lines)])
    expect(lines.join('\n')).toMatch(/has no queue for nope/)
  })

  test('names what to add if Node is too old', async () => {
    const bin = join(root, 'old node')
    mkdirSync(bin)
    writeFileSync(join(bin, 'node'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    const job = newJob({ PATH: `${bin}:${process.env.PATH}` })
    expect(await job.use({})).toBe(1)
    expect(job.log.join('\n')).toMatch(/::error::mergeq needs Node 20\.18\.1 or newer/)
  })

  const recipes = blocksOf('docs/github-action.md').filter(({ language }) => language === 'yaml')
  test('recipe: Submit and wait submits nothing if someone pushed after the label was added', async () => {
    const [recipe] = recipes.filter(({ heading }) => heading === 'Submit and wait')
    const { jobs } = parse(recipe?.text ?? '')
    const job = newJob({ ...jobs.merge.env, HEAD_NOW: merge })
    const codes: number[] = []
    for (const step of jobs.merge.steps) codes.push(await job.step(step))
    expect(codes).toEqual([0, 14, 0])
    expect(job.summary).toMatch(
      /^The head of #123 moved: expected 4f2a9c1, found 9d1c2b3\. Nothing was sent\./,
    )
  })

  test.each(recipes.map(block => [block.heading, block] as const))(
    'recipe: %s fails where each of its steps fails',
    async (_, { text }) => {
      for (const { steps, env = {} } of Object.values<Recipe>(parse(text).jobs))
        for (const failing of steps.keys()) {
          if (!/mergeq/.test(`${steps[failing]?.uses} ${steps[failing]?.run}`)) continue
          const job = newJob(env)
          for (const step of steps.slice(0, failing)) await job.step(step)
          job.breakPrograms()
          expect(await job.step(steps[failing] ?? {})).toBe(1)
        }
    },
  )

  test.each(recipes.map(block => [block.heading, block] as const))('recipe: %s', async (_, { text }) => {
    const { jobs } = parse(text)
    for (const { steps, env = {} } of Object.values<Recipe>(jobs)) {
      const job = newJob(env)
      for (const step of steps)
        expect({ code: await job.step(step), log: job.log }).toMatchObject({ code: 0 })
      if (text.includes('GITHUB_STEP_SUMMARY'))
        expect(job.summary).toMatch(/in the merge queue: not-found|failing tests|^#123 merged/)
    }
  })
})
