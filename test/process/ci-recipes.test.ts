import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { parseRepository } from '../../src/values/repository.ts'
import { head, recordedJobs } from '../support/ci-jobs.ts'
import { type Block, blocksOf, linesOf } from '../support/code-blocks.ts'
import {
  adaptForTest,
  checkout,
  environmentOf,
  inSandbox,
  type Part,
  realPrograms,
  scriptsOf,
  sh,
  type Variables,
} from '../support/documentation-runs.ts'

/** The pipeline of a recipe; GitLab's jobs stand at the top of the document, and Jenkins' steps are Groovy. */
function pipelineOf({ language, text }: Block): Part {
  if (language === 'groovy')
    return { steps: [...text.matchAll(/\bsh '(.*)'/g)].map(([, run = '']) => ({ run })) }
  const document: Part & Readonly<Record<string, Part>> = parse(text)
  return document.steps === undefined && document.jobs === undefined ? { jobs: document } : document
}

/** The values of the event that CircleCI puts into a recipe. */
const eventValues: Variables = { 'base.ref': 'release/2.4', number: '123', 'head.sha': head }

const targets = 'Impacted targets, including forks'

/** Each recipe, by its heading, and the recorded jobs that it is rehearsed as. */
const rehearsals: Readonly<Record<string, readonly (readonly [system: string, job: string])[]>> = {
  // It calls merge.yml, which merge-recipes.test.ts runs.
  'Many repositories': [],
  'Outputs and a summary': [['github', 'pull request']],
  [targets]: [
    ['github', 'pull request'],
    ['github', 'fork pull request'],
  ],
  'Failing tests on the pull request': [['github', 'pull request']],
  GitLab: [['gitlab', 'push']],
  Buildkite: [['buildkite', 'pull request']],
  Jenkins: [['jenkins', 'pull request as it is']],
  CircleCI: [['circleci', 'a branch, or a pull request with the GitHub App']],
  'Azure Pipelines': [['azure', 'pull request']],
}

/** What a recipe leaves behind, by its heading. */
const traces: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  'Outputs and a summary': {
    output: /^record=\{"state":"[A-Z_]+",.*\}\n$/,
    summary: /\| --- \|[^\n]*\n\| #?123 \|/,
  },
  [targets]: { said: /: 1 target \(/ },
  'Failing tests on the pull request': { summary: /^### \d+ failing tests/, said: /^::warning file=/m },
  GitLab: { 'failing-tests.md': /^### \d+ failing tests/, 'failing-tests.csv': /^name,/ },
  Buildkite: { 'annotate.md': /^\| .*\n\| --- \|/ },
}

describe('docs/ci.md', { timeout: 90_000 }, () => {
  const blocks = blocksOf('docs/ci.md')
  const recipes = blocks.filter(({ language }) => /^(?:yaml|groovy)$/.test(language))

  test('every recipe is rehearsed', () =>
    expect(recipes.map(({ heading }) => heading)).toEqual(Object.keys(rehearsals)))

  const rehearsed = recipes.flatMap(recipe =>
    (rehearsals[recipe.heading] ?? []).map(([system, job]) => [recipe.heading, system, job, recipe] as const),
  )
  /** Runs a recipe as a recorded job, in a new checkout; what it printed, beside the folder. */
  async function rehearse(
    recipe: Block,
    system: string,
    job: string,
    prepare = (_folder: string): Variables => ({}),
    due = 0,
    failing = -1,
  ) {
    const { common, jobs } = recordedJobs[system] ?? expect.fail(`no jobs of ${system}`)
    const { env: variables, event } = jobs[job] ?? expect.fail(`no job ${job}`)
    const folder = checkout(`${recipe.heading} ${job} ${prepare.name}`)
    const file = (name: string) => join(folder, name)
    writeFileSync(file('event.json'), JSON.stringify(event))
    const prepared = prepare(folder)
    const queues = ['acme/web', 'gitlab.acme.example/acme/platform/web'].map(name => ({
      repo: parseRepository(name),
      targetBranch: 'release/2.4',
    }))
    const sandbox = await startSandbox({ speed: 4, now: Date.now, queues })
    const secret = variables.MERGEQ_TOKEN ?? sandbox.token
    let said = ''
    try {
      for (const [index, { shell, script, env }] of scriptsOf(pipelineOf(recipe)).entries()) {
        expect(script, 'text of others is no part of a script').not.toContain('${{')
        const own = Object.entries(env).map(([name, value]) => [
          name,
          value
            .replace(/^(?:\$\{\{ secrets|\$\(MERGEQ_TOKEN\)).*/, secret)
            .replace(
              /^<< pipeline\.event\.github\.pull_request\.(\S+) >>$/,
              (_, name) => eventValues[name] ?? '',
            ),
        ])
        const { code, out, err } = await sh(
          ['bash', ...shell.split(' '), '-c', adaptForTest(script)],
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
            ...prepared,
            ...(index === failing
              ? { PATH: `${file('broken')}:${environmentOf(sandbox, folder).PATH}` }
              : {}),
          },
        )
        said += out
        if (index === failing) expect({ script, code }).toEqual({ script, code: due })
        if (due !== 0 && code !== 0) {
          expect({ script, code }).toEqual({ script, code: due })
          break
        }
        expect({ script, code, err: code === 0 ? '' : err }).toEqual({ script, code: 0, err: '' })
      }
    } finally {
      await sandbox.close()
    }
    writeFileSync(file('said'), said)
    return { said, file }
  }

  test.each(rehearsed)('%s, on %s: %s', async (heading, system, job, recipe) => {
    const { file } = await rehearse(recipe, system, job)
    for (const [name, trace] of Object.entries(traces[heading] ?? {}))
      expect(readFileSync(file(name), 'utf8')).toMatch(trace)
  })

  test('Outputs and a summary submits nothing if someone pushed after the label was added', async () => {
    const recipe = recipes.find(one => one.heading === 'Outputs and a summary') ?? expect.fail()
    const pushed = () => ({ HEAD_NOW: 'other' })
    const { said } = await rehearse(recipe, 'github', 'pull request', pushed, 1)
    expect(said).toBe('::error::Someone pushed after the label was added. Nothing was submitted.\n')
  })

  const program = /\b(?:mergeq|gh|node|npm|buildkite-agent)\b/
  test.each(
    rehearsed.flatMap(([heading, system, job, recipe]) =>
      scriptsOf(pipelineOf(recipe)).flatMap(({ script }, failing) =>
        program.test(script) ? [[heading, job, failing, system, recipe] as const] : [],
      ),
    ),
  )('%s, on %s: fails if the programs of step %i fail', async (_, job, failing, system, recipe) => {
    const broken = (folder: string) => {
      mkdirSync(join(folder, 'broken'))
      for (const name of ['mergeq', 'gh', 'node', 'npm', 'npx', 'jq', 'buildkite-agent'])
        writeFileSync(join(folder, 'broken', name), '#!/bin/sh\necho partial\nexit 1\n', { mode: 0o755 })
      return {}
    }
    await rehearse(recipe, system, job, broken, 1, failing)
  })

  test('elsewhere, with the built program', async () => {
    const folder = checkout('elsewhere')
    const sandbox = await startSandbox({ speed: 4, now: Date.now })
    const env: Variables = {
      ...environmentOf(sandbox, folder),
      ...inSandbox(sandbox),
      PATH: `${realPrograms}:${environmentOf(sandbox, folder).PATH}`,
      GITHUB_BASE_REF: 'main',
      MERGEQ_PR: '7',
      MERGEQ_SHA: head,
    }
    for (const line of blocks.filter(({ language }) => language === 'sh').flatMap(linesOf)) {
      const { code } = await sh(['sh', '-c', line], folder, env)
      expect({ line, code }).toEqual({ line, code: 0 })
    }
    await sandbox.close()
  })
})
