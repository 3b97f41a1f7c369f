import { Ajv2020 as Ajv, type AnySchemaObject } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/base/json.ts'
import { fieldsOf, fieldsOfRecords } from '../../src/command/fields.ts'
import { hasName } from '../../src/command/select-fields.ts'
import { allCommands } from '../support/commands.ts'
import { mergeq, openStory } from '../support/harness.ts'
import { operationExamples, testId } from '../support/operations.ts'
import { documentsIn } from '../support/pr-wait.ts'

const help = JSON.parse((await mergeq('help --json')).out)
const schemas: ReadonlyMap<string, AnySchemaObject | null> = new Map(
  help.commands.map(({ command, schema }: { command: string; schema: AnySchemaObject | null }) => [
    command,
    schema,
  ]),
)

/** Commands whose documents have no fields of the service: every field is in the schema. */
const own =
  /^(?:pr (?:cancel|explain|land|restart|submit|targets|wait)|queue (?:apply|check|create|delete|diff|export|list|wait)|flaky link|config|auth|doctor|guard)/

/** Returns the schema with `additionalProperties: false` in every object. */
const closed = (schema: unknown): unknown =>
  Array.isArray(schema)
    ? schema.map(closed)
    : typeof schema === 'object' && schema !== null
      ? {
          ...Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)])),
          ...('properties' in schema && 'type' in schema ? { additionalProperties: false } : {}),
        }
      : schema

const ajv = new Ajv({ strict: true, allErrors: true })
const validators = new Map(
  [...schemas].flatMap(([command, schema]) =>
    schema === null
      ? []
      : [[command, ajv.compile(own.test(command) ? (closed(schema) as AnySchemaObject) : schema)] as const],
  ),
)

test('columns are fields of the records of their command, except where a table has rows of its own', () => {
  const others = allCommands.filter(definition => {
    const { columns = [], names = [] } = fieldsOf(definition, new Map()) ?? {}
    return columns.some(({ path }) => !names.includes(path))
  })
  expect(others.map(({ command }) => command)).toEqual(['pr testing', 'queue report'])
})

const commandOf = (line: string): string =>
  [...schemas.keys()].findLast(name => `${line} `.startsWith(`${name} `)) ?? line

/** Returns what is wrong with the documents that a command line printed; `checked` gets its command. */
function mistakesOf(line: string, out: string, checked = new Set<string>()): readonly unknown[] {
  const command = commandOf(line)
  const isValid = validators.get(command)
  if (isValid === undefined) throw new Error(`${command} has no schema`)
  const documents = documentsIn(out)
  if (documents.length > 0) checked.add(command)
  return documents.flatMap(document =>
    isValid(document)
      ? []
      : (isValid.errors ?? []).map(({ instancePath, message, params }) => ({
          line,
          instancePath,
          message,
          params,
        })),
  )
}

const files = {
  'queue.yaml': 'repo: acme/web\ntargetBranch: main\nsettings:\n  concurrency: 3\n',
  'junit.xml': '<testsuite><testcase name="a" classname="b"><failure/></testcase></testsuite>',
}

const firstLines = `
pr submit 7 9
pr submit 12 --wait --interval 1s
pr land 13 --interval 1s
pr get 7 9
pr list
pr targets 7 a b --no-sha
pr testing --pr 7
pr wait 7 9 --interval 1s
pr wait 7 --match-head 4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9 --interval 1s
pr explain 7
pr explain 9
pr explain 100
pr submit 14
queue get
queue explain
pr cancel 14 --yes
queue list
queue list --include-state
queue wait --interval 1s
queue watch --once
queue export
queue diff -f queue.yaml
queue apply -f queue.yaml --yes
queue check --max-depth 3 --not-paused
queue runs
queue report
queue pause
queue resume
queue pause --all --yes
queue resume --all --yes
queue pause -f queue.yaml --yes
queue drain -f queue.yaml --yes
queue resume -f queue.yaml --yes
queue list -f queue.yaml
queue check --all
queue check -f queue.yaml
queue wait --all
queue wait -f queue.yaml
queue apply -f queue.yaml --yes
queue update --concurrency 2
queue create -b next
queue drain -b next
queue delete -b next --yes
metrics
flaky list --since 1d
flaky quarantined
flaky unhealthy
flaky match --since 7d junit.xml
flaky gate --max 1
auth status
auth list
config list
config list --show-origin
config get repo
doctor`
  .trim()
  .split('\n')
/** These, and those of the operations whose command is not among them. */
const lines = [
  ...firstLines,
  ...operationExamples
    .map(({ line }) => line)
    .filter(line => validators.has(commandOf(line)) && !line.includes(testId))
    .filter(line => !firstLines.map(commandOf).includes(commandOf(line))),
]

test('what the sandbox makes of every command is what its schema says', async () => {
  const checked = new Set<string>([
    'guard install',
    'guard uninstall',
    'sandbox start',
    'flaky get',
    'flaky link',
  ])
  const mistakes = []
  for (const dialect of ['both', 'hosted'] as const) {
    const story = await openStory({ scenario: 'failure', dialect })
    for (const line of lines) {
      story.clock.now += 3_000
      const { out } = await story.mergeq(`${line} --json`, { files })
      mistakes.push(...mistakesOf(line, out, checked))
    }
    const { tests } = JSON.parse((await story.mergeq('flaky list --since 1d --limit 1 --json')).out)
    for (const line of [`flaky get ${tests[0].id}`, `flaky link ${tests[0].id} KAN-1`])
      mistakes.push(...mistakesOf(line, (await story.mergeq(`${line} --json`)).out))
  }
  expect(mistakes).toEqual([])
  const missing = [...schemas].filter(([command, schema]) => schema !== null && !checked.has(command))
  expect(missing.map(([command]) => command)).toEqual([])
}, 60_000)

/** The dotted names of all fields in a value. */
const namesIn = (value: Json | undefined, prefix = ''): readonly string[] =>
  Array.isArray(value)
    ? value.flatMap(item => namesIn(item, prefix))
    : isObject(value)
      ? Object.entries(value).flatMap(([key, child]) => [
          `${prefix}${key}`,
          ...namesIn(child, `${prefix}${key}.`),
        ])
      : []

// The hosted service has every field of the other dialect.
test('every field of a record is a name', { timeout: 120_000 }, async () => {
  const story = await openStory({ dialect: 'hosted' })
  const { out } = await story.mergeq('flaky list --since 7d --fields id --limit 1')
  const unnamed: Record<string, readonly string[]> = {}
  for (const line of [
    ...lines.filter(line => !/--wait|export|--include-state/.test(line)),
    `flaky get ${out.trim()}`,
    'queue apply -f queue.yaml --dry-run',
    'doctor --dry-run',
  ]) {
    story.clock.now += 300
    const { out } = await story.mergeq(`${line} -o ndjson`, { files })
    const command = allCommands.find(each => each.command === commandOf(line)) ?? {}
    const typed = line.split(' ').map(word => [word === '-f' ? '--file' : word, []] as const)
    const record = fieldsOf(command, new Map(typed)) ?? fieldsOfRecords([])
    const missing = documentsIn(out)
      .flatMap(document => namesIn(document as JsonObject))
      // The items of a list are selected as a whole.
      .filter(name => !hasName(record, name) && !name.startsWith('checks.'))
    if (out === '' || missing.length > 0) unnamed[line] = missing
  }
  expect(unnamed).toEqual({})
})
