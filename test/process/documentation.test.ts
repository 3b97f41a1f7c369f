import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseRepository } from '../../src/domain/values/repository.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { head, recordedJobs } from '../support/ci-jobs.ts'
import { type Block, blocksOf, documents, linesOf, transcriptsOf } from '../support/code-blocks.ts'
import {
  adaptForTest,
  checkout,
  environmentOf,
  git,
  inSandbox,
  notRunnable,
  openDocumentSandbox,
  place,
  sh,
  type Variables,
} from '../support/documentation-runs.ts'
import { testWith } from '../support/programs.ts'

/** The exit codes of command lines that end with another code than 0. */
const otherCodes: Readonly<Record<string, number>> = {
  "mergeq sandbox exec --scenario failure -- sh -c 'mergeq pr submit 9 && mergeq pr wait 9 --interval 1s'": 3,
  'mergeq sandbox exec --scenario failure --speed 50 -- bash train.sh 101 130': 3,
  'mergeq sandbox start --port 8080 --scenario flaky': 130,
  'mergeq flaky get "cart totals merges"': 2,
  'mergeq flaky match --since 7d reports/*.xml': 21,
  'mergeq flaky match --since 7d --allow known reports/*.xml': 21,
}

/**
 * Lines with what differs from run to run masked: moments, numbers, digests, widths, and how often one
 * looked.
 */
const shapeOf = (lines: readonly string[]): readonly string[] =>
  lines
    .map(line =>
      line
        .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'INSTANT')
        .replace(/\b[\da-f]{16}\b/g, 'DIGEST')
        .replace(/\b\d+(?:ms|s|m\d\ds|m|h\d\dm|h)?\b/g, 'N')
        .replace(/^#N [A-Z_]+( -> [A-Z_]+)?$/, '#N STATE')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    .filter(
      (line, index, all) => line !== '' && line !== all[index - 1] && !/nothing here is real/.test(line),
    )

// The recipes of docs/ci.md are below.
// library-project.test.ts runs docs/testing.md.
const guides = documents.filter(
  path => path !== 'docs/ci.md' && path !== 'docs/testing.md' && blocksOf(path).length > 0,
)

describe.each(guides)('%s', { timeout: 90_000 }, path => {
  const folder = join(place, path)
  let sandbox: Awaited<ReturnType<typeof openDocumentSandbox>>
  beforeAll(() => void checkout(path))
  beforeEach(async () => {
    sandbox = await openDocumentSandbox(folder)
  })
  afterEach(() => sandbox.close())

  const runners: Readonly<Record<string, (block: Block) => void | Promise<void>>> = {
    async sh(block) {
      for (const line of linesOf(block)) {
        if (notRunnable[line] !== undefined) continue
        const { code, out, err } = await sandbox.run(line)
        const due = otherCodes[line] ?? 0
        expect({ line, code, err: code === due ? '' : err }).toEqual({ line, code: due, err: '' })
        if (/^mergeq .* --json$/.test(line))
          for (const printed of String(out).trim().split('\n')) JSON.parse(printed)
        // jq prints null for a path that does not exist.
        if (line.includes(' | jq ')) expect(String(out).split('\n')).not.toContain('null')
      }
    },
    async console(block) {
      const transcripts = transcriptsOf(block)
      expect(transcripts).not.toEqual([])
      for (const [line, shown] of transcripts) {
        const { out, err } = await sandbox.run(line, { terminal: true })
        const [printed, said] = [String(out).split('\n'), String(err).split('\n')]
        expect([shapeOf([...said, ...printed]), shapeOf([...printed, ...said])]).toContainEqual(
          shapeOf(shown),
        )
      }
    },
    // test/framework/generated-reference.test.ts runs those of docs/troubleshooting.md.
    text: () => undefined,
    // test/process/analytics.test.ts runs these.
    sql: () => undefined,
    // A script has its name in its first comment; a line of shell runs it.
    bash: ({ text }) =>
      writeFileSync(join(folder, /^# (\S+\.sh)/m.exec(text)?.[1] ?? ''), adaptForTest(text)),
    json: ({ text }) => writeFileSync(join(folder, '.mergeq.json'), text),
    async yaml({ text }) {
      const document = parse(text)
      for (const { shell, script } of scriptsOf(document)) {
        const env = { ...sandbox.env, GITHUB_STEP_SUMMARY: join(folder, 'summary') }
        expect(await sh(['bash', shell, '-c', script], folder, env)).toMatchObject({ code: 0 })
      }
      if (document.jobs === undefined) writeFileSync(join(folder, 'queue.yaml'), text)
    },
    // An example of a test is a part of a test file, which runs.
    ts: ({ text }) => expect(readFileSync('test/commands/pr/get.test.ts', 'utf8')).toContain(text),
    async js({ text }) {
      mkdirSync(join(folder, 'node_modules'), { recursive: true })
      rmSync(join(folder, 'node_modules/mergeq'), { force: true })
      symlinkSync(resolve('.'), join(folder, 'node_modules/mergeq'))
      writeFileSync(join(folder, 'example.mjs'), text)
      const { code, out, err } = await sh([process.execPath, 'example.mjs'], folder, sandbox.env)
      expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
      if (text.includes('waitFor')) expect(out).toMatch(/^Done: #101 merged .*\nDone: #102 merged .*\nTests /)
      expect(out.match(/^MergeqError .*$/gm) ?? []).toEqual(
        text.includes('catch') ? ['MergeqError not-found 5'] : [],
      )
    },
  }
  const blocks = blocksOf(path)
  const scripts = blocks.filter(({ language }) => language === 'bash').map(({ text }) => text)
  for (const block of blocks) {
    // The lines of a page use what its scripts make.
    const program = [block.text, ...scripts].some(text => /\bjq\b/.test(text)) ? 'jq' : 'sh'
    testWith(program)(`line ${block.line}: ${block.language}, below "${block.heading}"`, async () => {
      expect(Object.keys(runners)).toContain(block.language)
      await runners[block.language]?.(block)
    })
  }
})

/** A part of a pipeline: a whole one, a job, or a step, of any of the systems. */
interface Part {
  readonly env?: Variables
  /** What GitLab and CircleCI call `env`. */
  readonly variables?: Variables
  readonly environment?: Variables
  readonly steps?: readonly (Part | string)[]
  readonly jobs?: Readonly<Record<string, Part>>
  readonly run?: string
  readonly command?: string
  readonly script?: string | readonly string[]
}

/**
 * The scripts of a recipe, in order, each with the variables that the recipe sets for it and as its system
 * runs it.
 */
function scriptsOf(
  part: Part,
  outer: Variables = {},
): readonly { shell: string; script: string; env: Variables }[] {
  const env = { ...outer, ...part.env, ...part.variables, ...part.environment }
  const own = (shell: string, script: string | undefined) =>
    script === undefined || notRunnable[script] !== undefined ? [] : [{ shell, script, env }]
  const below = [...(part.steps ?? []), ...Object.values(part.jobs ?? {})]
  return [
    ...own('-e', part.run),
    ...own('-e', part.command),
    ...own('-eo pipefail', [part.script ?? []].flat().join('\n') || undefined),
    ...below.flatMap(one => (typeof one === 'string' ? [] : scriptsOf(one, env))),
  ]
}

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
  'Submit and wait': [['github', 'pull request']],
  'Without a waiting job': [['github', 'pull request']],
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
  'Without a waiting job': {
    'results.ndjson': /"outcome":"failed"/,
    'gh.log': /^pr comment 123 --body #123 .*failed.*\npr edit 123 --remove-label queue\n$/,
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
    const scenario = recipe.heading === 'Without a waiting job' ? 'failure' : 'happy'
    const sandbox = await startSandbox({ speed: 4, now: Date.now, queues, scenario })
    const secret = variables.MERGEQ_TOKEN ?? sandbox.token
    let said = ''
    try {
      for (const { shell, script, env } of scriptsOf(pipelineOf(recipe))) {
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
          },
        )
        said += out
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

  test('the targets are ALL after a change of the build, and none without a directory', async () => {
    const recipe = recipes.find(({ heading }) => heading === targets) ?? expect.fail(targets)
    const commit = (folder: string, name: string) => {
      writeFileSync(join(folder, name), '')
      git(folder, 'add', name)
      git(folder, 'commit', '-m', name)
    }
    const build = await rehearse(recipe, 'github', 'pull request', function build(folder) {
      commit(folder, 'package.json')
      return {}
    })
    expect(build.said).toContain(': all targets.')
    const page = await rehearse(recipe, 'github', 'pull request', function page(folder) {
      git(folder, 'reset', '--hard', 'origin/main')
      commit(folder, 'README.md')
      return {}
    })
    expect(page.said).toContain(': no targets.')
    const moved = await rehearse(recipe, 'github', 'pull request', function moved(folder) {
      git(folder, 'mv', 'web', 'app')
      git(folder, 'commit', '-m', 'Move')
      git(folder, 'push', 'origin', 'HEAD~1:main', 'HEAD~1:release/2.4')
      return {}
    })
    expect(moved.said).toContain(': 2 targets ')
  })

  test.each(['Submit and wait', 'Without a waiting job'])(
    '%s submits nothing if someone pushed after the label was added',
    async heading => {
      const recipe = recipes.find(one => one.heading === heading) ?? expect.fail(heading)
      const pushed = () => ({ HEAD_NOW: 'other' })
      const { said } = await rehearse(recipe, 'github', 'pull request', pushed, 1)
      expect(said).toBe('')
    },
  )

  test.each([
    ['git', 1],
    ['sort', 2],
  ])('no targets are sent where %s fails half way', async (name, due) => {
    const recipe = recipes.find(({ heading }) => heading === targets) ?? expect.fail(targets)
    const { said } = await rehearse(
      recipe,
      'github',
      'pull request',
      folder => {
        mkdirSync(join(folder, 'failing'))
        writeFileSync(join(folder, 'failing', name), '#!/bin/sh\necho web/cart\nexit 1\n', { mode: 0o755 })
        return { PATH: `${join(folder, 'failing')}:${environmentOf({ baseUrl: '' }, folder).PATH}` }
      },
      due,
    )
    expect(said).toBe('')
  })

  testWith('jq')('elsewhere', async () => {
    const folder = checkout('elsewhere')
    const sandbox = await startSandbox({ speed: 4, now: Date.now })
    const env: Variables = {
      ...environmentOf(sandbox, folder),
      ...inSandbox(sandbox),
      GITHUB_BASE_REF: 'main',
      MERGEQ_PR: '7',
    }
    writeFileSync(join(folder, 'changed.txt'), 'web/cart/total.js\nweb/a b.js\n')
    mkdirSync(join(folder, 'failing'))
    writeFileSync(join(folder, 'failing/npx'), '#!/bin/sh\necho cart\nexit 1\n', { mode: 0o755 })
    for (const line of blocks.filter(({ language }) => language === 'sh').flatMap(linesOf)) {
      const { code, out } = await sh(['sh', '-c', line], folder, env)
      expect({ line, code }).toEqual({ line, code: 0 })
      // Bazel has found a part of the targets.
      if (line.includes('--exec'))
        expect(out).toContain(line.includes('bazel') ? 'all targets' : ': 1 target (')
      if (!line.includes('npx')) continue
      const failing = { ...env, PATH: `${join(folder, 'failing')}:${env.PATH}` }
      expect(await sh(['sh', '-c', line], folder, failing)).toMatchObject({ code: 2, out: '' })
    }
    await sandbox.close()
    const query = 'kind(rule, rdeps(//..., set("web/cart/total.js"\n"web/a b.js")))\n'
    expect(readFileSync(join(folder, 'query.txt'), 'utf8')).toBe(query)
  })
})
