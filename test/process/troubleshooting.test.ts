import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import { blocksOf } from '../support/code-blocks.ts'
import { environmentOf, inSandbox, place, sh, type Variables } from '../support/documentation-runs.ts'

const path = 'docs/troubleshooting.md'
const folder = join(place, 'no checkout')

/** Settings that are missing where an error appears. */
const missing: Readonly<Record<string, readonly string[]>> = {
  'No token': ['MERGEQ_TOKEN'],
  'No repository': ['MERGEQ_REPO'],
  'No target branch': ['MERGEQ_TARGET_BRANCH'],
  'No pull request': ['MERGEQ_PR'],
}

const without = (env: Variables, names: readonly string[]): Variables =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)))

describe(path, () => {
  let sandbox: Sandbox
  beforeAll(async () => {
    mkdirSync(folder, { recursive: true })
    sandbox = await startSandbox({ speed: 4, now: Date.now })
  })
  afterAll(() => sandbox.close())

  /** The exit code and the message of a command, with the host of the service as users see it. */
  async function run(heading: string, line: string) {
    const env = without({ ...environmentOf(sandbox, folder), ...inSandbox(sandbox) }, missing[heading] ?? [])
    const { code, err } = await sh(['sh', '-c', line], folder, env)
    const message = err
      .replaceAll(new URL(sandbox.baseUrl).host, 'api.trunk.io')
      .replace(/^mergeq: this is a sandbox; nothing here is real\.\n/, '')
    return { code, message: message.trimEnd() }
  }

  const blocks = blocksOf(path).filter(({ language }) => language === 'text')
  test.each(blocks.map(block => [block.heading, block] as const))('%s', async (heading, { text }) => {
    const [command = '', ...shown] = text.trimEnd().split('\n')
    const line = command.replace(/^\$ /, '')
    const { code, message } = await run(heading, line)
    if (process.env.MERGEQ_WRITE_REFERENCE === '1') {
      const page = readFileSync(path, 'utf8')
      writeFileSync(
        path,
        page.replace(`\n${text}\`\`\``, () => `\n${command}\n${message}\n\`\`\``),
      )
    } else expect(shown).toEqual(message.split('\n'))
    const page = readFileSync(path, 'utf8')
    const section = page.slice(page.indexOf(`## ${heading}\n`)).split('\n## ')[0] ?? ''
    expect(section).toContain(`\nExit code ${code}.`)
  })

  test('has the errors that people meet first', () => expect(blocks.length).toBeGreaterThanOrEqual(10))
})
