import { allCommands } from './commands.ts'
import { operationExamples } from './operations.ts'

/** The commands that send requests to a service that is not their own. */
export const askingCommands = allCommands
  .filter(
    ({ operations, command }) =>
      (operations === 'any' || operations.length > 0) && !command.startsWith('sandbox '),
  )
  .map(({ command }) => command)

/** What commands need besides pull requests: an answer to a question, targets, and a short wait. */
export const flagsOf: Readonly<Record<string, string>> = {
  'pr cancel': '--yes',
  'pr targets': '--all --no-sha',
  'pr land': '--timeout 3s --interval 1s',
}

/** What is typed behind the name of a command, where it is not the line of an operation. */
const moreLines: Readonly<Record<string, string>> = {
  'pr submit': '7 8 --wait --timeout 2s --interval 1s',
  'pr cancel': `7 8 ${flagsOf['pr cancel']}`,
  'pr get': '7 8',
  'pr wait': '7 8 --timeout 3s --interval 1s',
  'pr land': `7 ${flagsOf['pr land']}`,
  'pr explain': '7',
  'queue update': '--concurrency 5 --batch --state paused --mode single',
  'queue delete': '--cancel-all --yes',
  'queue wait': '--timeout 3s --interval 1s',
  'queue watch': '--for 3s --interval 1s -o ndjson',
  'queue diff': '-f queue.yaml',
  'queue apply': '-f queue.yaml --yes',
  'queue check': '--max-depth 3 --stalled 2h --not-paused',
  'flaky match': 'junit.xml',
  'flaky gate': '--max 0',
  'guard hook': '-- origin https://github.com/acme/web',
  api: 'getQueue --include',
  'auth login': '--with-token',
}

const commandOf = (line: string): string =>
  askingCommands.findLast(command => `${line} `.startsWith(`${command} `)) ?? line

/** What is typed behind the name of each command; nothing, where that is enough. */
export const askingLines: Readonly<Record<string, string>> = {
  ...Object.fromEntries(askingCommands.map(command => [command, ''])),
  ...Object.fromEntries(
    operationExamples.map(({ line }) => [commandOf(line), line.slice(commandOf(line).length).trim()]),
  ),
  ...moreLines,
}

const queueFile = 'repo: acme/web\ntargetBranch: main\nsettings:\n  concurrency: 3\n'

/** The files that these lines name. */
export const askingFiles = {
  '/repo/queue.yaml': queueFile,
  'queue.yaml': queueFile,
  'junit.xml':
    '<testsuite name="s"><testcase name="a" classname="b"><failure message="m">f</failure></testcase></testsuite>',
}
