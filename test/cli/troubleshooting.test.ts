import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { blocksOf } from '../support/code-blocks.ts'
import { openStory, type Story } from '../support/harness.ts'

const path = 'docs/troubleshooting.md'

/** Settings that are missing where an error appears. */
const missing: Readonly<Record<string, string>> = {
  'No token': 'MERGEQ_TOKEN',
  'No repository': 'MERGEQ_REPO',
  'No target branch': 'MERGEQ_TARGET_BRANCH',
}

/** The exit code and the message of a command line, with the host of the service as users see it. */
async function run(story: Story, heading: string, command: string) {
  const [, name, value, line = ''] = /^\$ (?:(\w+)=(\S+) )?mergeq (.*)$/.exec(command) ?? []
  const env = {
    ...(missing[heading] === undefined ? {} : { [missing[heading]]: undefined }),
    ...(name === undefined ? {} : { [name]: value }),
  }
  const noCheckout = 'fatal: not a git repository (or any of the parent directories): .git\n'
  const spawn = () => ({ code: 128, out: '', err: noCheckout })
  const { code, err } = await story.mergeq(line, { env, spawn })
  const message = err
    .replaceAll(new URL(story.env.MERGEQ_BASE_URL ?? '').host, 'api.trunk.io')
    .replace(/^mergeq: this is a sandbox; nothing here is real\.\n/, '')
  return { code, message: message.trimEnd() }
}

describe(path, () => {
  const blocks = blocksOf(path).filter(({ language }) => language === 'text')

  test.each(blocks.map(block => [block.heading, block] as const))('%s', async (heading, { text }) => {
    const [command = '', ...shown] = text.trimEnd().split('\n')
    const story = await openStory()
    const { code, message } = await run(story, heading, command)
    await story.close()
    if (process.env.MERGEQ_WRITE_REFERENCE === '1') {
      const page = readFileSync(path, 'utf8')
      const changed = page.replace(`\n${text}\`\`\``, () => `\n${command}\n${message}\n\`\`\``)
      writeFileSync(path, changed)
    } else expect(shown).toEqual(message.split('\n'))
    const page = readFileSync(path, 'utf8')
    const section = page.slice(page.indexOf(`## ${heading}\n`)).split('\n## ')[0] ?? ''
    expect(section).toContain(`\nExit code ${code}.`)
  })

  test('has the errors that people meet first', () => expect(blocks.length).toBeGreaterThanOrEqual(10))
})
