import { afterAll, describe, expect, test } from 'vitest'
import { parseCommandLine } from '../../src/cli/parse.ts'
import { commandGroups } from '../../src/commands/index.ts'
import { endsWithCommand, wrapLines } from '../../src/output/text-width.ts'
import { askingCommands, askingFiles, askingLines } from '../support/asking-commands.ts'
import { mergeq, openStory, type Setting, serveScript, splitWords } from '../support/harness.ts'
import { mergeSettings, profiles } from '../support/settings-sources.ts'

const color = /\u001B\[[\d;]*m|\u001B\]8;;[^\u0007]*\u0007/g

/** A word behind `mergeq` that makes a command. */
const command = new RegExp(`mergeq (?:${commandGroups.map(({ name }) => name).join('|')})\\b.*`)

/** The lines of a text that have a command, split at the command. */
const linesWithCommands = (text: string) =>
  text.split(/\r?\n/).flatMap(line => {
    // A document: JSON is read below, and a comment of a queue file names a command in its sentence.
    if (/^[{#]/.test(line)) return []
    const plain = line.replaceAll(color, '')
    const [found] = command.exec(plain) ?? []
    return found === undefined ? [] : [{ label: plain.slice(0, -found.length), command: found }]
  })

/** All texts in a JSON value. */
const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

const covered = new Set<string>()
afterAll(() => {
  expect(covered.size).toBeGreaterThanOrEqual(minCovered)
  if (process.env.MERGEQ_SHOW_COMMANDS !== undefined)
    process.stdout.write(`${[...covered].sort().join('\n')}\n`)
})

/** Commands that are about no queue: they carry neither repository nor branch. */
const ofNoQueue = /^mergeq (?:auth|config|sandbox|help|doctor|queue list|flaky)\b/

/** What was typed, and what every command of a message therefore carries. */
const place = '-R ghe.example.com/acme/api -b release/2.4 --profile work'
const statuses = [200, 400, 401, 404, 409, 500]

/** Checks each command of a text, and returns them. */
async function checkCommands(text: string, baseUrl: string, isReport = false): Promise<readonly string[]> {
  const commands: string[] = []
  for (const { label, command } of linesWithCommands(text)) {
    // A report is a Markdown document.
    if (label.endsWith('`') && isReport) continue
    expect(label, command).toMatch(/^\s*$|: $/)
    const words = splitWords(command).slice(1)
    const { problem, asksFor } = await parseCommandLine(words, commandGroups)
    expect({ command, problem, asksFor }).toEqual({
      command,
      problem: undefined,
      asksFor: expect.stringMatching(/^(?:run|help)$/),
    })
    expect(command).not.toMatch(/--yes|\s#\d|<\w+>/)
    if (!words.includes('--help') && !command.startsWith('mergeq sandbox'))
      expect(command).toContain(`--base-url ${baseUrl}`)
    if (!words.includes('--help') && !command.startsWith('mergeq sandbox'))
      expect(command).toContain('--profile work')
    if (!ofNoQueue.test(command) && !words.includes('--help'))
      expect(command).toMatch(
        /--repo (?:ghe\.example\.com\/acme\/api|acme\/web).*--target-branch (?:release\/2\.4|main)/,
      )
    commands.push(command)
    covered.add(
      `${label.trim()} ${command.replaceAll(/ --(?:repo|target-branch|base-url|profile|org) \S+/g, '')}`,
    )
  }
  return commands
}

describe.each(askingCommands)('the commands in the messages of `%s`', name => {
  test.each(statuses)('are whole at every width (%i)', async status => {
    const answer = () =>
      status === 200 ? { body: '{"state":"RUNNING","enqueuedPullRequests":[]}' } : { status, body: 'no' }
    const service = await serveScript(answer)
    const line = `${name} ${askingLines[name] ?? ''} ${place} --base-url ${service.baseUrl} --retries 0`
    const world: Setting = mergeSettings(profiles({ work: { retries: 1 } }), {
      files: { ...profiles({ work: { retries: 1 } }).files, ...askingFiles },
      terminal: true,
      env: { MERGEQ_ORG: 'acme', NO_COLOR: '1' },
    })
    try {
      const seen: (readonly string[])[] = []
      for (const columns of [40, 80, 120]) {
        const { out, err } = await mergeq(line, { ...world, columns })
        seen.push(await checkCommands(`${out}\n${err}`, service.baseUrl))
      }
      expect(seen[0]).toEqual(seen[2])
      expect(seen[1]).toEqual(seen[2])
      const { err } = await mergeq(`${line} --json`, { ...world, columns: 80 })
      for (const each of err.split('\n').filter(text => text.startsWith('{')))
        await checkCommands(textsIn(JSON.parse(each)).join('\n'), service.baseUrl)
    } finally {
      await service.close()
    }
  })
})

describe.each(askingCommands)('the commands that `%s` prints about a sandbox', name => {
  test('are whole at every width', async () => {
    const seen: (readonly string[])[] = []
    for (const columns of [40, 80, 120]) {
      const story = await openStory()
      const baseUrl = story.env.MERGEQ_BASE_URL ?? ''
      const options = `-R ${story.env.MERGEQ_REPO} -b main --profile work --base-url ${baseUrl}`
      const world = mergeSettings(profiles({ work: { retries: 1 } }), {
        files: { ...profiles({ work: { retries: 1 } }).files, ...askingFiles },
        terminal: true,
        columns,
        env: { NO_COLOR: '1' },
      })
      try {
        for (const line of [`${name} ${askingLines[name] ?? ''} ${options}`, `pr get 9 ${options}`]) {
          const { out, err } = await story.mergeq(line, world)
          const commands = await checkCommands(`${out}\n${err}`, baseUrl, name === 'flaky report')
          seen.push(commands.map(command => command.replaceAll(baseUrl, '')))
        }
      } finally {
        await story.close()
      }
    }
    expect(seen.slice(0, 2)).toEqual(seen.slice(4, 6))
    expect(seen.slice(2, 4)).toEqual(seen.slice(4, 6))
  })
})

/** How many different messages with a command these runs print at least. */
const minCovered = 35

test('a command of every group is never broken, behind a label or alone', () => {
  for (const { name } of commandGroups) {
    const line = `mergeq ${name} verb ${'--some-option value '.repeat(6)}end`
    for (const text of [line, `  ${line}`, `To see it, run: ${line}`, `\u001B[2mRun: ${line}\u001B[22m`]) {
      expect(endsWithCommand(text), text).toBe(true)
      for (const columns of [40, 80, 120]) {
        const lines = wrapLines(text, columns).split('\n')
        expect(lines.some(wrapped => wrapped.includes(line))).toBe(true)
      }
    }
  }
})
