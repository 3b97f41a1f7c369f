import { describe, expect, test } from 'vitest'
import { expectUsageError } from '../support/command-checks.ts'
import { mergeq, type Setting } from '../support/harness.ts'
import { runningQueue } from '../support/settings-sources.ts'

const bom = '\uFEFF'
const config = '/home/dev/.config/mergeq/config.json'
const env = { HOME: '/home/dev' }
const where = '-R acme/web -b main'

/** A command line that reads a text: its setting with the text, a text, and what it prints for it. */
const readers: readonly (readonly [
  string,
  string,
  (text: string | Uint8Array) => Setting,
  string,
  RegExp,
])[] = [
  [
    'a project file',
    'config get repo',
    text => ({ files: { '/repo/.mergeq.json': text, '/repo/.git': '' } }),
    '{"repo":"acme/web"}',
    /acme\/web/,
  ],
  [
    'the stored settings',
    'auth status --no-verify',
    text => ({ env: { ...env, MERGEQ_TOKEN: '' }, files: { [config]: text } }),
    '{"tokens":{"https://api.trunk.io":"abc"}}',
    /stored/,
  ],
  [
    'a queue file',
    `queue diff -f q.yaml ${where}`,
    text => ({ files: { 'q.yaml': text }, answer: runningQueue }),
    'settings:\n  batch: true\n',
    /1 setting differs/,
  ],
  [
    'pull requests on standard input',
    `pr cancel - --dry-run ${where}`,
    text => ({ input: text }),
    '7\n',
    /7/,
  ],
]

describe.each(readers)('%s', (_, line, setting, text, printed) => {
  test('may begin with a byte order mark', async () => {
    const plain = await mergeq(line, setting(text))
    expect(plain.out + plain.err).toMatch(printed)
    const { code, out, err } = await mergeq(line, setting(bom + text))
    expect({ code, out, err }).toEqual({ code: plain.code, out: plain.out, err: plain.err })
  })

  test.each([
    ['with a mark', bom + text],
    ['without a mark', text],
  ])('that is UTF-16 %s is refused by name', async (_, wide) => {
    expectUsageError(
      await mergeq(line, setting(Buffer.from(wide, 'utf16le'))),
      / is encoded as UTF-16, not UTF-8\.\n {2}(?:Save the text as UTF-8\. In PowerShell: |Fix the file, )/,
    )
  })
})
