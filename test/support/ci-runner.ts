import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runInNewContext } from 'node:vm'
import { parse } from 'yaml'
import { head } from './ci-jobs.ts'
import { adaptForTest, sh, type Variables } from './documentation-runs.ts'
import { launcher } from './programs.ts'

/** A step of a pipeline of any system. */
export interface Step {
  readonly id?: string
  readonly if?: string
  readonly uses?: string
  readonly run?: string
  readonly shell?: string
  readonly with?: Readonly<Record<string, string | boolean>>
  readonly env?: Variables
}

/** A part of a pipeline: a whole one, a job, or a step. */
export interface Part extends Step {
  /** What GitLab and CircleCI call `env`. */
  readonly variables?: Variables
  readonly environment?: Variables
  readonly steps?: readonly (Part | string)[]
  readonly jobs?: Readonly<Record<string, Part>>
  /** What other systems call `run`. */
  readonly command?: string
  readonly script?: string | readonly string[]
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string; readonly description: string }>>
  readonly outputs: Readonly<Record<string, { readonly value: string; readonly description: string }>>
  readonly runs: { readonly using: string; readonly steps: readonly Step[] }
}

export const action: Action = parse(readFileSync('action.yml', 'utf8'))

/** The steps of a pipeline, in order, each with the variables that the pipeline sets for it. */
export function stepsOf(part: Part, outer: Variables = {}): readonly Step[] {
  const env = { ...outer, ...part.env, ...part.variables, ...part.environment }
  const script = [part.script ?? []].flat().join('\n')
  const below = [...(part.steps ?? []), ...Object.values(part.jobs ?? {})]
  return [
    ...(part.run !== undefined || part.uses !== undefined ? [{ ...part, env }] : []),
    ...(part.command === undefined ? [] : [{ run: part.command, env }]),
    ...(script === '' ? [] : [{ run: script, shell: 'bash', env }]),
    ...below.flatMap(one => (typeof one === 'string' ? [] : stepsOf(one, env))),
  ]
}

type Context = Readonly<Record<string, unknown>>

/** The value of an expression. It reads like JavaScript, but for names with a hyphen and what is not there. */
function evaluate(expression: string, context: Context): string {
  const script = expression.replace(/\.([\w-]+)/g, '?.["$1"]')
  return String(runInNewContext(script, { ...context, fromJSON: JSON.parse }) ?? '')
}

const fillIn = (values: Readonly<Record<string, unknown>>, context: Context): Variables =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      String(value)
        .replace(/\$\{\{ (.*?) \}\}|<< (.*?) >>/g, (_, one, other) => evaluate(one ?? other, context))
        .replace(/^\$\((\w+)\)$/, (_, secret) => evaluate(`secrets.${secret}`, context)),
    ]),
  )

/** What is assigned in a file by which a step speaks to the runner. */
function readAssignments(path: string): Variables {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const assignments = text.matchAll(/^([\w-]+)(?:<<(.+)\n([\s\S]*?)\n\2$|=(.*)$)/gm)
  return Object.fromEntries([...assignments].map(([, name, , long, short]) => [name, long ?? short]))
}

/** The programs that fail in a step that fails, after some output. */
const broken = ['gh', 'jq', 'mergeq', 'npm', 'npx', 'node', 'git', 'buildkite-agent']

export interface Runner {
  readonly env: Variables
  readonly context?: Context
  /** What GitHub answers: the view of a pull request, the list of those with a label, a permission, the events of one. */
  readonly gh?: Readonly<Partial<Record<'view' | 'list' | 'permission' | 'events', object>>>
  /** Whether npm installs, and not a link. */
  readonly installs?: boolean
  /** The step whose programs all fail. */
  readonly failing?: number | undefined
  /** The step during which somebody cancels the job. It is not run. */
  readonly cancelled?: number | undefined
}

type Outcome = number | 'skipped' | 'cancelled'

/** Runs the steps of a job in a folder, as a runner does. */
export async function runJob(steps: readonly Step[], folder: string, runner: Runner) {
  const at = (name: string) => join(folder, name)
  const read = (name: string) => (existsSync(at(name)) ? readFileSync(at(name), 'utf8') : '')
  for (const name of ['broken', 'installed/bin', 'with spaces']) mkdirSync(at(name), { recursive: true })
  cpSync('test/fixtures/ci-programs', at('programs'), { recursive: true })
  if (runner.installs === true) rmSync(at('programs/npm'))
  const link = at('installed/bin/mergeq')
  if (!existsSync(link)) symlinkSync(launcher, link)
  for (const name of broken)
    writeFileSync(at(`broken/${name}`), '#!/bin/sh\necho partial; exit 1\n', { mode: 0o755 })
  const view = { headRefOid: head, baseRefName: 'main' }
  for (const [name, answer] of Object.entries({ view, permission: { permission: 'write' }, ...runner.gh }))
    writeFileSync(at(`gh-${name}.json`), JSON.stringify(answer))
  const assigned: Record<string, string> = {}
  const found: Record<string, { readonly outputs: Variables }> = {}
  const logs: string[] = []
  let path = `${at('programs')}:${runner.env.PATH}`
  let count = 0

  const contextWith = (inputs: Variables): Context => ({
    github: {},
    ...runner.context,
    inputs,
    steps: found,
  })

  async function runScript({ id, run = '', shell, env = {} }: Step, inputs: Variables, isBroken: boolean) {
    if (run.includes('${{')) throw new Error(`text of others is a part of a script: ${run}`)
    const speak = (name: string) => at(`${name}-${count}`)
    const flags = shell === 'bash' ? ['-eo', 'pipefail'] : ['-e']
    const { code, out, err } = await sh(['bash', ...flags, '-c', adaptForTest(run)], folder, {
      GITHUB_ACTION_PATH: resolve('.'),
      RUNNER_TEMP: at('with spaces'),
      ...runner.env,
      GITHUB_EVENT_PATH: at('event.json'),
      GITHUB_STEP_SUMMARY: at('summary.md'),
      GITHUB_OUTPUT: speak('output'),
      GITHUB_ENV: speak('env'),
      GITHUB_PATH: speak('path'),
      ...assigned,
      ...fillIn(env, contextWith(inputs)),
      PATH: isBroken ? `${at('broken')}:${path}` : path,
    })
    logs.push(`${out}${err}`)
    if (id !== undefined) found[id] = { outputs: readAssignments(speak('output')) }
    Object.assign(assigned, readAssignments(speak('env')))
    if (existsSync(speak('path'))) path = `${readFileSync(speak('path'), 'utf8').trim()}:${path}`
    count++
    return Number(code)
  }

  async function runAction(step: Step, isBroken: boolean) {
    const given = fillIn(step.with ?? {}, contextWith({}))
    const unknown = Object.keys(given).filter(name => !Object.hasOwn(action.inputs, name))
    if (unknown.length > 0) throw new Error(`the action has no input ${unknown}`)
    const inputs: Variables = {
      ...Object.fromEntries(Object.entries(action.inputs).map(([name, input]) => [name, input.default])),
      ...given,
      command: adaptForTest(given.command ?? ''),
    }
    delete found.run
    let code = 0
    for (const one of action.runs.steps) {
      const [, tested = ''] = /^inputs\.([\w-]+) != ''$/.exec(one.if ?? '') ?? []
      if (code === 0 && inputs[tested] !== '') code = await runScript(one, inputs, isBroken)
    }
    const values = Object.entries(action.outputs).map(([name, { value }]) => [name, value] as const)
    if (step.id !== undefined)
      found[step.id] = { outputs: fillIn(Object.fromEntries(values), contextWith({})) }
    return code
  }

  let state: 'success' | 'failure' | 'cancelled' = 'success'
  const codes: Outcome[] = []
  for (const [index, step] of steps.entries()) {
    const condition = (step.if ?? 'success()').replace(/^\$\{\{ | \}\}$/g, '')
    const isDue = {
      'success()': state === 'success',
      'failure()': state === 'failure',
      'cancelled()': state === 'cancelled',
      '!cancelled()': state !== 'cancelled',
      'always()': true,
    }[condition]
    if (isDue === undefined) throw new Error(`unknown condition: ${condition}`)
    let code: Outcome = 'skipped'
    if (runner.cancelled === index) code = 'cancelled'
    else if (isDue && step.run !== undefined) code = await runScript(step, {}, runner.failing === index)
    else if (isDue && step.uses?.startsWith('mergeq/mergeq@'))
      code = await runAction(step, runner.failing === index)
    else if (isDue && step.uses?.startsWith('actions/checkout@')) {
      const script = '[ -d .git ] || { git init -q && git remote add origin https://github.com/acme/web; }'
      code = Number((await sh(['sh', '-c', script], folder, runner.env)).code)
    } else if (isDue) code = 0
    codes.push(code)
    if (code === 'cancelled') state = 'cancelled'
    else if (typeof code === 'number' && code !== 0 && state === 'success') state = 'failure'
  }
  return {
    state,
    codes,
    logs,
    log: logs.join(''),
    outputs: (id: string): Variables => found[id]?.outputs ?? {},
    read,
    comments: read('comments.md'),
    asked: read('gh.log'),
    summary: read('summary.md'),
  }
}
