import { describe, expect, test } from 'vitest'
import { expectUsageError } from '../support/command-checks.ts'
import { mergeq } from '../support/harness.ts'

const groupNames = ['pr', 'queue', 'flaky', 'guard', 'auth', 'config', 'sandbox']

// Where --help and -h may stand is in test/cli/parse.test.ts.
test.each([
  ['help pr get', ['pr get --head x --help', 'pr status --help']],
  ['help pr', ['-q pr --help']],
  ['help', ['--help --no-input']],
  ['pr get -h', ['pr get 7 -qh', 'pr status -h']],
  ['pr -h', ['pr']],
  ['-h', ['', '-v']],
])('`%s` prints what %j print', async (line, others) => {
  const { out } = await mergeq(line)
  for (const other of others)
    expect({ other, ...(await mergeq(other)) }).toMatchObject({ other, code: 0, out, err: '' })
})

describe('help as data', () => {
  // Its content is compared with the manual page and the reference, which are made from it:
  // test/project/generated-reference.test.ts.
  test('`help --json` is one document, on one line on a pipe and indented on a terminal', async () => {
    const { out } = await mergeq('help --json')
    expect(out.split('\n')).toHaveLength(2)
    expect((await mergeq('help --json', { terminal: true })).out).toBe(
      `${JSON.stringify(JSON.parse(out), null, 2)}\n`,
    )
    for (const line of ['--help --json', '--json help', 'help -o json', '--json'])
      expect((await mergeq(line)).out).toBe(out)
  })

  test('a command, a group and ndjson print their part', async () => {
    const { commands, groups } = JSON.parse((await mergeq('help --json')).out)
    const find = (name: string) =>
      commands.filter(({ command }: { command: string }) => command.startsWith(name))
    for (const line of ['help pr get --json', 'pr get --help --json', 'help pr status --json'])
      expect(JSON.parse((await mergeq(line)).out)).toEqual(find('pr get')[0])
    expect(JSON.parse((await mergeq('help pr --json')).out).commands).toEqual(find('pr '))
    const lines = (await mergeq('help -o ndjson')).out.trimEnd().split('\n')
    expect(lines.map(line => JSON.parse(line))).toEqual(commands)
    expect(groups.map(({ name }: { name: string }) => name)).toEqual(groupNames)
  })

  test('MERGEQ_OUTPUT makes no data of the help that a person asks for', async () => {
    for (const line of ['--help', 'help'])
      expect((await mergeq(line, { env: { MERGEQ_OUTPUT: 'json' } })).out).toMatch(/^Usage: mergeq /m)
  })
})

test.each(['xyzzy', 'pr xyzzy', 'exit-codes xyzzy'])('help %s is refused', async words => {
  expectUsageError(await mergeq(`help ${words}`), `No help has '${words}' in it`)
})
