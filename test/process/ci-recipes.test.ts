import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseRepository } from '../../src/domain/values/repository.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { blocksOf, linesOf } from '../support/code-blocks.ts'
import {
  adaptForTest,
  checkout,
  environmentOf,
  notRunnable,
  sh,
  type Variables,
} from '../support/documentation-runs.ts'

interface Recording {
  readonly common: Variables
  readonly jobs: Readonly<Record<string, { readonly env: Variables; readonly event?: unknown }>>
}

/** A part of a pipeline: a whole one, a job, or a step, of any of the three systems. */
interface Part {
  readonly env?: Variables
  readonly steps?: readonly (Part | string)[]
  readonly jobs?: Readonly<Record<string, Part>>
  readonly run?: string
  readonly command?: string
  readonly script?: readonly string[]
}

/**
 * The scripts of a recipe, in order, each with the variables that the recipe sets for it and as its system
 * runs it.
 */
function scriptsOf(
  part: Part,
  outer: Variables = {},
): readonly { shell: string; script: string; env: Variables }[] {
  const env = { ...outer, ...part.env }
  const own = (shell: string, script: string | undefined) =>
    script === undefined || notRunnable[script] !== undefined ? [] : [{ shell, script, env }]
  const below = [...(part.steps ?? []), ...Object.values(part.jobs ?? {})]
  return [
    ...own('-e', part.run),
    ...own('-e', part.command),
    ...own('-eo pipefail', part.script?.join('\n')),
    ...below.flatMap(one => (typeof one === 'string' ? [] : scriptsOf(one, env))),
  ]
}

/** GitLab's jobs stand at the top of the document. */
const pipelineOf = (document: Part & Readonly<Record<string, Part>>): Part =>
  document.steps === undefined && document.jobs === undefined ? { jobs: document } : document

/** Each recipe, by its heading, and the recorded jobs that it is rehearsed as. */
const rehearsals: Readonly<Record<string, readonly (readonly [system: string, job: string])[]>> = {
  'Submit and wait': [['github', 'pull request']],
  'Outputs and a summary': [['github', 'pull request']],
  'Impacted targets, including forks': [
    ['github', 'pull request'],
    ['github', 'fork pull request'],
  ],
  'Failing tests on the pull request': [['github', 'pull request']],
  GitLab: [['gitlab', 'pull request']],
  Buildkite: [['buildkite', 'pull request']],
}

/** What a recipe leaves behind, by its heading. */
const traces: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  'Outputs and a summary': {
    output: /^record=\{"state":"[A-Z_]+",.*\}\n$/,
    summary: /\| --- \|[^\n]*\n\| #?123 \|/,
  },
  'Impacted targets, including forks': { 'targets.txt': /^web\n$/ },
  'Failing tests on the pull request': { summary: /^### \d+ failing tests/, said: /^::warning file=/m },
  GitLab: { 'changed.txt': /^web\/cart\/total\.js\n$/ },
  Buildkite: { 'annotate.md': /^\| .*\n\| --- \|/ },
}

describe('docs/ci.md', () => {
  const blocks = blocksOf('docs/ci.md')
  const recipes = blocks.filter(({ language }) => language === 'yaml')

  test('every recipe is rehearsed', () =>
    expect(recipes.map(({ heading }) => heading)).toEqual(Object.keys(rehearsals)))

  const rehearsed = recipes.flatMap(recipe =>
    (rehearsals[recipe.heading] ?? []).map(([system, job]) => [recipe.heading, system, job, recipe] as const),
  )
  test.each(rehearsed)(
    '%s, on %s: %s',
    async (heading, system, job, { text }) => {
      const { common, jobs }: Recording = JSON.parse(readFileSync(`test/fixtures/ci/${system}.json`, 'utf8'))
      const { env: variables = {}, event } = jobs[job] ?? {}
      const folder = checkout(`${heading} ${job}`)
      const file = (name: string) => join(folder, name)
      writeFileSync(file('event.json'), JSON.stringify(event ?? {}))
      const queues = ['acme/web', 'gitlab.acme.example/acme/platform/web'].map(name => ({
        repo: parseRepository(name),
        targetBranch: 'release/2.4',
      }))
      const sandbox = await startSandbox({ speed: 4, now: Date.now, queues })
      const secret = variables.MERGEQ_TOKEN ?? sandbox.token
      let said = ''
      try {
        for (const { shell, script, env } of scriptsOf(pipelineOf(parse(text)))) {
          expect(script, 'text of others is no part of a script').not.toContain('${{')
          const own = Object.entries(env).map(([name, value]) => [
            name,
            value.replace(/^\$\{\{ secrets.*/, secret),
          ])
          const { code, out, err } = await sh(
            ['bash', ...shell.split(' '), '-c', adaptForTest(script)] as [string, ...string[]],
            folder,
            {
              ...common,
              ...variables,
              ...environmentOf(sandbox, folder),
              GITHUB_EVENT_PATH: file('event.json'),
              GITHUB_OUTPUT: file('output'),
              GITHUB_STEP_SUMMARY: file('summary'),
              ...(system === 'github' ? {} : { MERGEQ_TOKEN: secret }),
              ...Object.fromEntries(own),
            },
          )
          expect({ script, code, err: code === 0 ? '' : err }).toEqual({ script, code: 0, err: '' })
          said += out
        }
      } finally {
        await sandbox.close()
      }
      writeFileSync(file('said'), said)
      for (const [name, trace] of Object.entries(traces[heading] ?? {}))
        expect(readFileSync(file(name), 'utf8')).toMatch(trace)
    },
    40_000,
  )

  test('elsewhere', async () => {
    const folder = checkout('elsewhere')
    const sandbox = await startSandbox({ speed: 4, now: Date.now })
    const env = { ...environmentOf(sandbox, folder), MERGEQ_TOKEN: sandbox.token }
    for (const line of blocks.filter(({ language }) => language === 'sh').flatMap(linesOf))
      expect({ line, code: (await sh(['sh', '-c', line], folder, env)).code }).toEqual({ line, code: 0 })
    await sandbox.close()
  })
})
