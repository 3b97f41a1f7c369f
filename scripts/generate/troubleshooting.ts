// Renders the messages and exit codes in docs/troubleshooting.md: the command lines there run against a sandbox.
import { readFileSync } from 'node:fs'
import { type Block, blocksOf } from '../../test/support/code-blocks.ts'
import { openStory } from '../../test/support/harness.ts'

const path = 'docs/troubleshooting.md'

/** Settings that are missing where an error appears. */
const missing: Readonly<Record<string, string>> = {
  'No token': 'MERGEQ_TOKEN',
  'No repository': 'MERGEQ_REPO',
  'No target branch': 'MERGEQ_TARGET_BRANCH',
}

/** Returns the exit code and the message of a command line, with the host of the service as users see it. */
async function run(heading: string, command: string) {
  const [, name, value, line = ''] = /^\$ (?:(\w+)=(\S+) )?mergeq (.*)$/.exec(command) ?? []
  const env = {
    ...(missing[heading] === undefined ? {} : { [missing[heading]]: undefined }),
    ...(name === undefined ? {} : { [name]: value }),
  }
  const noCheckout = 'fatal: not a git repository (or any of the parent directories): .git\n'
  const spawn = () => ({ code: 128, out: '', err: noCheckout })
  const story = await openStory()
  try {
    const { code, err } = await story.mergeq(line, { env, spawn })
    const message = err
      .replaceAll(new URL(story.env.MERGEQ_BASE_URL ?? '').host, 'api.trunk.io')
      .replace(/^mergeq: this is a sandbox; nothing here is real\.\n/, '')
    return { code, message: message.trimEnd() }
  } finally {
    await story.close()
  }
}

/** Returns the page with the message of a block, and with the exit code in the line below it. */
async function replaceMessage(page: string, { heading, text }: Block): Promise<string> {
  const [command = ''] = text.split('\n')
  const { code, message } = await run(heading, command)
  const [before, after] = page.split(`\`\`\`text\n${text}\`\`\`\n\nExit code `)
  if (before === undefined || after === undefined)
    throw new Error(`${path}: "Exit code N." must follow the message of "${heading}".`)
  return `${before}\`\`\`text\n${command}\n${message}\n\`\`\`\n\nExit code ${after.replace(/^\d*/, String(code))}`
}

/** Returns the page with the messages and exit codes of its command lines. */
export async function renderTroubleshooting(): Promise<string> {
  let page = readFileSync(path, 'utf8')
  for (const block of blocksOf(path)) if (block.language === 'text') page = await replaceMessage(page, block)
  return page
}
