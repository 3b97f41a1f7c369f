import { describe, expect, test } from 'vitest'
import { isChange, operationName } from '../../src/api/operation.ts'
import { findFormat, formats } from '../../src/output/output-formats.ts'
import { askingCommands, askingFiles, askingLines } from '../support/asking-commands.ts'
import { allCommands } from '../support/commands.ts'
import { mergeq, openStory, queueEnv, type Story } from '../support/harness.ts'

/** The commands whose JSON, NDJSON and CSV `-` takes (docs/reference/cli.md, "Pull requests"). */
const printing = ['pr list', 'pr get', 'pr wait', 'pr explain', 'pr submit', 'queue get', 'queue runs']

/** The lines of these commands, where they tell of one pull request and of several. */
const lines: Readonly<Record<string, readonly string[]>> = {
  'pr list': ['', '--state merged'],
  'pr get': ['7', '7 8', '7 --timeline'],
  'pr wait': ['7 --timeout 3h', '7 8 --timeout 3h'],
  'pr explain': ['7', '7 8'],
  'pr submit': ['7', '7 8', '8 --wait --timeout 3h'],
  'queue get': [''],
  'queue runs': ['', '--limit 1'],
}

/** A queue for release and one for main, in which 5 has merged and 7 and 8 are waited for. */
async function story(): Promise<Story> {
  const opened = await openStory()
  await opened.mergeq('pr submit 5 --wait --timeout 3h')
  await opened.mergeq('pr submit 7 8')
  opened.clock.now += 600
  return opened
}

const numberIn = (body: string): number | undefined => JSON.parse(body === '' ? '{}' : body).pr?.number

/** The numbers that a read of standard input asks about, and those that a dry run would change. */
async function fedTo({ mergeq, received }: Story, input: string, change = 'pr cancel - --yes') {
  const before = received.length
  const read = await mergeq('pr get - --json', { input })
  const asked = received.slice(before).flatMap(({ body }) => {
    const { pr, prs = [] } = JSON.parse(body === '' ? '{}' : body)
    return [
      pr?.number ?? [],
      ...prs.map((each: { number: number } | number) => Object(each).number ?? each),
    ].flat()
  })
  const changed = await mergeq(`${change} --dry-run`, { input })
  const cancelled = changed.out
    .split('\n')
    .filter(line => line !== '')
    .map(line => numberIn(JSON.stringify(JSON.parse(line).body)))
  return { read, asked: new Set(asked), change: changed, cancelled }
}

describe.each(printing)('- takes what %s prints', command => {
  for (const words of lines[command] ?? [])
    for (const format of formats.filter(name => name !== 'table'))
      test(`${command} ${words} -o ${format}`, async () => {
        const opened = await story()
        const printed = await opened.mergeq(`${command} ${words} -o ${format}`)
        const text = printed.out
        expect(text).not.toBe('')
        const { read, asked, change, cancelled } = await fedTo(
          opened,
          text,
          command === 'pr submit' ? 'pr submit -' : undefined,
        )
        await opened.close()
        if (findFormat(format).isForDocuments) {
          expect([read.code, change.code, asked.size, cancelled]).toEqual([2, 2, 0, []])
          return
        }
        expect({ code: read.code, err: read.code === 2 ? read.err : '' }).toEqual({ code: 0, err: '' })
        const named = [...asked]
        expect(named.length).toBeGreaterThan(0)
        for (const number of named) expect(text).toMatch(new RegExp(`\\b${number}\\b`))
        // A change leaves out what merged and what was done.
        expect(change.code).toBe(0)
        for (const number of cancelled) expect(named).toContain(number)
        if (command !== 'queue runs') expect(cancelled).not.toContain(5)
        if (command === 'pr submit') expect(cancelled).toEqual([])
      })
})

describe('what other commands print', () => {
  const others = askingCommands.filter(command => !printing.includes(command))
  test.each(others)(
    '%s: a change with it is exit code 2, or is about pull requests that it names',
    async command => {
      const opened = await story()
      for (const format of formats) {
        const { out } = await opened.mergeq(`${command} ${askingLines[command] ?? ''} -o ${format}`, {
          files: askingFiles,
        })
        const { change, cancelled } = await fedTo(opened, out)
        if (change.code !== 2)
          expect({ command, format, code: change.code }).toEqual({ command, format, code: 0 })
        for (const number of cancelled)
          expect(out).toMatch(new RegExp(`"?pr"?[:,\\t]|^${number}\\t|^pr,`, 'm'))
      }
      await opened.close()
    },
  )
})

describe('what a record says', () => {
  /** The requests of a dry run: repository, branch and number. */
  async function cancelled(input: string, flags = '') {
    const opened = await openStory()
    const { code, out, err } = await opened.mergeq(`pr cancel - --yes --dry-run ${flags}`, { input })
    await opened.close()
    const sent = out
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line).body)
      .map(({ repo, targetBranch, pr }) => `${repo.owner}/${repo.name} ${targetBranch} ${pr.number}`)
    return { code, sent, err }
  }
  const elsewhere = { repo: 'github.com/acme/app', targetBranch: 'release' }

  test.each([
    ['its repository and branch win over the environment', { ...elsewhere, pr: 7 }, ['acme/app release 7']],
    ['without them they are those of the command', { prNumber: 7, state: 'FAILED' }, ['acme/web main 7']],
    ['the URL names the repository', { url: 'https://github.com/acme/app/pull/7' }, ['acme/app main 7']],
    ['a success is left out', { pr: 7, ok: true }, []],
    ['a merged one is left out', { pr: 7, state: 'merged' }, []],
    ['one without a state is left out', { pr: 7, state: null }, []],
    [
      'a queue names its branch',
      { branch: 'release', enqueuedPullRequests: [{ prNumber: 7 }] },
      ['acme/web release 7'],
    ],
    [
      'results count, not the queue beside them',
      { testingResults: [{ prNumber: 7 }], enqueuedPullRequests: [{ prNumber: 8 }] },
      ['acme/web main 7'],
    ],
  ])('%s', async (_, record, sent) => {
    for (const text of [JSON.stringify(record), JSON.stringify(record, null, 2), JSON.stringify([record])])
      expect(await cancelled(text)).toMatchObject({ code: 0, sent })
  })

  test('if all are left out the exit code is 0 with one remark, and a read takes them all', async () => {
    const input = '{"pr":7,"ok":true}\n{"pr":8,"state":null}\n'
    const { code, err } = await cancelled(input)
    expect({ code, err: err.trim().split('\n').at(-1) }).toEqual({
      code: 0,
      err: 'Nothing to do: standard input has only pull requests (2) that are done, merged or unknown.',
    })
    const opened = await openStory()
    const { requests } = await opened.mergeq('pr get - --dry-run', { input })
    const { out } = await opened.mergeq('pr get - --dry-run', { input })
    await opened.close()
    expect({ requests: requests.length, lines: out.trim().split('\n').length }).toEqual({
      requests: 0,
      lines: 2,
    })
  })

  test('CSV that another program saved again, with everything in quotes', async () => {
    const input = '"prNumber","state","targetBranch"\r\n"7","FAILED","release"\r\n'
    expect(await cancelled(input)).toMatchObject({ sent: ['acme/web release 7'] })
  })

  test('a branch that was typed and another one in a record are exit code 2', async () => {
    const input = JSON.stringify({ ...elsewhere, pr: 7 })
    expect(await cancelled(input, '-b main')).toMatchObject({ code: 2, sent: [] })
    expect(await cancelled(input, '-R acme/web')).toMatchObject({ code: 2, sent: [] })
    expect(await cancelled(input, '-R Acme/App -b refs/heads/release')).toMatchObject({
      sent: [expect.stringMatching(/^acme\/app release 7$/i)],
    })
  })

  test('the same number in two queues is two pull requests', async () => {
    const input = '{"pr":7,"targetBranch":"release"}\n7\n{"pr":7,"targetBranch":"main"}\n'
    expect(await cancelled(input)).toMatchObject({ sent: ['acme/web release 7', 'acme/web main 7'] })
  })
})

/** Every command that changes the pull requests of standard input, and its operation. */
const changing = allCommands.flatMap(({ command, operation, definitions }) =>
  operation !== undefined &&
  isChange(operation) &&
  definitions.some(definition => definition.name === 'pr' && definition.variadic === true)
    ? [[command, operationName(operation.route)] as const]
    : [],
)

test.each(changing)('`%s -` refuses the receipt of another operation', async (command, operation) => {
  const other = operation === 'cancelPullRequest' ? 'submitPullRequest' : 'cancelPullRequest'
  const receipt = { repo: 'github.com/acme/web', targetBranch: 'main', pr: 7 }
  for (const ok of [true, false]) {
    const input = JSON.stringify({ operation: other, ...receipt, ok })
    const { code, err, requests } = await mergeq(`${command} -`, { env: queueEnv, input })
    expect({ code, requests }).toEqual({ code: 2, requests: [] })
    expect(err).toContain(`the receipt of another operation: ${other}, not ${operation}`)
  }
})
