import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect } from 'vitest'
import { parse } from 'yaml'
import { stepsOf } from '../support/ci-runner.ts'
import { type Block, blocksOf, documents, linesOf, transcriptsOf } from '../support/code-blocks.ts'
import {
  adaptForTest,
  checkout,
  notRunnable,
  openDocumentSandbox,
  place,
  sh,
} from '../support/documentation-runs.ts'
import { testWith } from '../support/programs.ts'

/** The exit codes of command lines that end with another code than 0. */
const otherCodes: Readonly<Record<string, number>> = {
  "mergeq sandbox exec --scenario failure -- sh -c 'mergeq pr submit 9 && mergeq pr wait 9 --interval 1s'": 3,
  'mergeq sandbox exec --scenario failure --speed 50 -- bash train.sh 101 130': 3,
  'mergeq sandbox start --port 8080 --scenario flaky': 130,
  'mergeq sandbox exec --scenario not-ready --speed 20 -- mergeq pr submit 3 --wait --interval 1s': 10,
  'mergeq sandbox exec --scenario rotated-token --token-file token --speed 10 -- mergeq pr wait 7 --grace 8s --interval 1s': 5,
  'mergeq sandbox exec --closed 9 -- mergeq pr submit 9 --wait --interval 1s': 10,
  'mergeq flaky get "cart totals merges"': 2,
  'mergeq flaky match --since 7d reports/*.xml': 21,
  'mergeq flaky match --since 7d --allow known reports/*.xml': 21,
  'mergeq flaky match --since 7d reports/': 21,
  'mergeq flaky match --since 7d --variant chromium reports/playwright.xml': 21,
  'mergeq flaky match --since 7d --allow-empty reports/*.xml': 21,
}

// recipes.test.ts runs those of docs/ci.md and docs/github-action.md.
// library-project.test.ts runs docs/testing.md, and library-server.test.ts the server of docs/library.md.
const guides = documents.filter(
  path =>
    path !== 'docs/ci.md' &&
    path !== 'docs/github-action.md' &&
    path !== 'docs/testing.md' &&
    blocksOf(path).length > 0,
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
      // On a terminal, a list is a table, below a sentence.
      for (const [line, shown] of transcripts) {
        const { code, out } = await sandbox.run(line.includes(' | ') ? line : `${line} -o table`)
        const printed = String(out).trimEnd().split('\n')
        expect([0, 20]).toContain(code)
        expect(printed).toEqual(shown.slice(-printed.length))
      }
    },
    // test/project/generated-reference.test.ts runs those of docs/troubleshooting.md.
    text: () => undefined,
    // test/process/analytics.test.ts runs these.
    sql: () => undefined,
    // A script has its name in its first comment; a line of shell runs it.
    bash: ({ text }) =>
      writeFileSync(join(folder, /^# (\S+\.sh)/m.exec(text)?.[1] ?? ''), adaptForTest(text)),
    json: ({ text }) => writeFileSync(join(folder, '.mergeq.json'), text),
    async yaml({ text }) {
      const document = parse(text)
      for (const { run = '' } of stepsOf(document)) {
        if (notRunnable[run] !== undefined) continue
        const env = { ...sandbox.env, GITHUB_STEP_SUMMARY: join(folder, 'summary') }
        expect(await sh(['bash', '-e', '-c', run], folder, env)).toMatchObject({ code: 0 })
      }
      if (document.jobs === undefined) writeFileSync(join(folder, 'queue.yaml'), text)
    },
    // An example of a test is a part of a test file, which runs.
    ts({ text }) {
      const file = text.startsWith('test(')
        ? 'test/commands/queue/create.test.ts'
        : 'src/commands/queue/create.ts'
      expect(readFileSync(file, 'utf8')).toContain(text)
    },
    async js({ text, heading }) {
      if (heading === 'On a server') return
      mkdirSync(join(folder, 'node_modules'), { recursive: true })
      rmSync(join(folder, 'node_modules/mergeq'), { force: true })
      symlinkSync(resolve('.'), join(folder, 'node_modules/mergeq'))
      writeFileSync(join(folder, 'example.mjs'), text)
      // A queue that nothing else changes: the sandbox of the page is shared, and its clock may be fast.
      const own = text.includes('watchQueue(')
        ? [resolve('bin/mergeq.js'), 'sandbox', 'exec', '--', process.execPath]
        : []
      const { code, err } = await sh([process.execPath, ...own, 'example.mjs'], folder, sandbox.env)
      expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
    },
  }
  const blocks = blocksOf(path)
  const scripts = blocks.filter(({ language }) => language === 'bash').map(({ text }) => text)
  for (const block of blocks) {
    // The lines of a page use what its scripts make.
    const program = [block.text, ...scripts].some(text => /\bjq\b|\.sh\b/.test(text)) ? 'jq' : 'sh'
    testWith(program)(`line ${block.line}: ${block.language}, below "${block.heading}"`, async () => {
      expect(Object.keys(runners)).toContain(block.language)
      await runners[block.language]?.(block)
    })
  }
})
