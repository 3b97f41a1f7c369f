import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import { type Block, blocksOf, documents, linesOf, transcriptsOf } from '../support/code-blocks.ts'
import {
  adaptForTest,
  checkout,
  environmentOf,
  inSandbox,
  notRunnable,
  place,
  sh,
  type Variables,
} from '../support/documentation-runs.ts'
import { testWith } from '../support/programs.ts'

interface SpecialRun {
  /** The exit code that is right; 0 where this is left out. */
  readonly code?: number
  /** What happened before. */
  readonly before?: string
}

/** Command lines that need something before them, or end with another code than 0. */
const specialRuns: Readonly<Record<string, SpecialRun>> = {
  "mergeq sandbox exec --scenario failure -- sh -c 'mergeq pr submit 9 && mergeq pr wait 9 --interval 1s'": {
    code: 3,
  },
  'mergeq sandbox start --port 8080 --scenario flaky': { code: 130 },
  'mergeq flaky get "cart totals merges"': { code: 2 },
  'mergeq flaky match --since 7d reports/*.xml': { code: 21 },
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

// test/process/ci-recipes.test.ts runs docs/ci.md.
const guides = documents.filter(path => path !== 'docs/ci.md' && blocksOf(path).length > 0)

describe.each(guides)('%s', path => {
  const folder = join(place, path)
  let sandbox: Sandbox
  let env: Variables
  beforeAll(() => void checkout(path))
  beforeEach(async () => {
    sandbox = await startSandbox({ speed: 4, now: Date.now })
    env = { ...environmentOf(sandbox, folder), ...inSandbox(sandbox) }
  })
  afterEach(() => sandbox.close())

  const runners: Readonly<Record<string, (block: Block) => Promise<void>>> = {
    async sh(block) {
      for (const line of linesOf(block)) {
        if (notRunnable[line] !== undefined) continue
        const { code = 0, before = 'true' } = specialRuns[line] ?? {}
        await sh(['sh', '-c', before], folder, env)
        const ended = await sh(['sh', '-c', adaptForTest(line)], folder, env)
        expect({ line, code: ended.code, err: ended.code === code ? '' : ended.err }).toEqual({
          line,
          code,
          err: '',
        })
      }
    },
    async console(block) {
      const transcripts = transcriptsOf(block)
      expect(transcripts).not.toEqual([])
      for (const [line, shown] of transcripts) {
        await sh(['sh', '-c', specialRuns[line]?.before ?? 'true'], folder, env)
        const onTerminal = `stty cols 80; ${adaptForTest(line)} 2>err`
        const { out } = await sh(['script', '-qec', onTerminal, '/dev/null'], folder, env)
        const said = readFileSync(join(folder, 'err'), 'utf8').split('\n')
        const printed = out.split('\n')
        expect([shapeOf([...said, ...printed]), shapeOf([...printed, ...said])]).toContainEqual(
          shapeOf(shown),
        )
      }
    },
    async text() {},
    // test/process/analytics.test.ts runs these.
    async sql() {},
    async json({ text }) {
      writeFileSync(join(folder, 'mine.json'), text)
    },
    async yaml({ text }) {
      const document = parse(text)
      if (document.groups === undefined) return writeFileSync(join(folder, 'queue.yaml'), text)
      const { out } = await sh(['mergeq', 'metrics'], folder, env)
      for (const [series] of text.matchAll(/\bmq_\w+/g)) expect(out).toContain(`\n${series}{`)
    },
    // An example of a test is a part of a test file, which runs.
    async ts({ text }) {
      expect(readFileSync('test/cli/pr-get.test.ts', 'utf8')).toContain(text)
    },
    async js({ text }) {
      mkdirSync(join(folder, 'node_modules'), { recursive: true })
      rmSync(join(folder, 'node_modules/mergeq'), { force: true })
      symlinkSync(resolve('.'), join(folder, 'node_modules/mergeq'))
      writeFileSync(join(folder, 'example.mjs'), text)
      const { code, out, err } = await sh([process.execPath, 'example.mjs'], folder, env)
      expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
      expect(out.match(/^MergeqError .*$/gm) ?? []).toEqual(
        text.includes('catch') ? ['MergeqError not-found 5'] : [],
      )
    },
  }
  for (const block of blocksOf(path)) {
    const program = block.language === 'console' ? 'script' : /\bjq\b/.test(block.text) ? 'jq' : 'sh'
    testWith(program)(`line ${block.line}: ${block.language}, below "${block.heading}"`, async () => {
      await runners[block.language]?.(block)
      expect(Object.keys(runners)).toContain(block.language)
    })
  }
})

const declarations = readdirSync('dist', { recursive: true, encoding: 'utf8' }).filter(name =>
  /\.d\.[cm]?ts$/.test(name),
)

test.each(declarations)('%s cites only what ships', name => {
  const text = readFileSync(`dist/${name}`, 'utf8')
  expect(text).not.toMatch(/\bdocs\//)
  const cited = [...text.matchAll(/[\w./-]+\.md\b/g)].map(([file]) => file)
  expect(cited.filter(file => !['README.md', 'CHANGELOG.md'].includes(file))).toEqual([])
})
