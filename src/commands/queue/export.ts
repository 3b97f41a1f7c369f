import { flag } from '../../cli/inputs.ts'
import { digestOf, isSame } from '../../domain/queue-file.ts'
import { read } from '../../api/operations/queues.ts'
import { nameOf, text } from '../../domain/values/parsers.ts'
import { Failure, usage } from '../../errors.ts'
import type { Desk } from '../../cli/context.ts'
import { rehearse } from '../../cli/run-operation.ts'
import { encode } from '../../output/json-text.ts'
import { type JsonObject } from '../../json.ts'
import { listed } from '../../output/view.ts'
import { command } from '../../cli/command.ts'
import { codeFlags, isCodeFile, readText, textAt } from './file/read-files.ts'
import { placeName, readLive, runFor } from './file/plan.ts'

const comment =
  ' A merge queue as code: `mergeq queue diff -f` compares it with the live queue,\n `mergeq queue apply -f` makes the queue so. What is not named here is left alone.'

/** The format of what is written: the file's ending says it, else `-o`; nothing else may be said aloud. */
function isJsonOf(file: string | undefined, { given, options }: Desk): boolean {
  const aloud = given.has('--json') || given.has('--output')
  const isJson = /^(nd)?json$/.test(options.format)
  if (options.fields.length > 0 || (aloud && !isJson))
    throw usage('A queue as code is YAML or JSON.', 'Leave --output and --fields out, or say --json.')
  if (file === undefined) return isJson
  if (!isCodeFile(file))
    throw usage(`${file} ends in none of .yaml, .yml and .json.`, 'The ending of the file says its format.')
  const isJsonFile = /\.json$/i.test(file)
  if (aloud && !isJsonFile) throw usage(`--output json contradicts the ending of ${file}.`)
  return isJsonFile
}

/** What the file should hold now; what stands in it already, comments and all, is kept where it means the same. */
async function textFor(
  value: { readonly repo: string; readonly targetBranch: string; readonly settings: JsonObject },
  before: { readonly text: string; readonly settings: JsonObject } | undefined,
  isJson: boolean,
  withState: boolean,
): Promise<string> {
  if (isJson) return `${encode(value, true)}\n`
  const { rewriteYaml, writeYaml } = await import('./file/yaml.ts')
  if (before === undefined) return writeYaml(value, comment)
  const { settings, ...head } = value
  const isForeign = (key: string) => key === 'state' && !withState
  return rewriteYaml(before.text, before.settings, {
    head,
    key: 'settings',
    values: settings,
    isForeign,
    isSame,
  })
}

/** `queue export`: a live queue's settings as a file. */
export const exportQueue = command({
  command: 'queue export',
  summary: 'Write the settings of a queue as a file for version control',
  on: read,
  prints: 'the file, as YAML or, with --json or by its ending, JSON; nothing with -f',
  fields: {
    file: flag(
      '-f, --file <file>',
      'Write there (.yaml, .yml or .json) instead of to standard output; comments are kept',
      text('file name'),
      { file: true },
    ),
    ...codeFlags,
  },
  examples: ['mergeq queue export > queue.yaml', 'mergeq queue export -f queues/main.yaml'],
  async run({ file, includeState }, desk) {
    const { options, printer, voice, world } = desk
    const isJson = isJsonOf(file, desk)
    const standing = file === undefined ? undefined : await textAt(file, desk)
    const code = standing === undefined ? { settings: {} } : await readText(standing, file ?? '')
    const run = await runFor({ path: file ?? '', code }, desk)
    if (options.dryRun) return rehearse(read, [run], desk)
    const live = await readLive(run, includeState, desk)
    if (live === undefined)
      throw new Failure('not-found', `queue export: there is no queue of ${placeName(run)}.`, {
        hint: 'Name another with --repo and --target-branch.',
        status: 404,
      })
    if (live.unreadable.length > 0)
      await voice.warn(`left out, as the live value could not be set again: ${listed(live.unreadable)}.`)
    const { repo, targetBranch } = run.values
    const value = { repo: code.repo ?? nameOf(repo), targetBranch, settings: live.settings }
    const before = standing === undefined ? undefined : { text: standing, settings: code.settings }
    const written = await textFor(value, before, isJson && options.format !== 'ndjson', includeState)
    if (file === undefined)
      await printer.print({
        records: [],
        document: () => null,
        shape: () => ({ columns: [], rows: [] }),
        verbatim: new TextEncoder().encode(isJson ? `${encode(value, world.out.terminal)}\n` : written),
      })
    else if (written === standing) await voice.note(`${file} is as the queue of ${placeName(run)} is.`)
    else {
      await world.files.replace(file, written).catch((error: Error) => {
        throw new Failure('output', `${file} could not be written: ${error.message}.`, {
          hint: 'What was there is as it was. Check the folder and the space on its disk.',
        })
      })
      await voice.note(`Wrote the queue of ${placeName(run)} to ${file}.`)
    }
    await voice.note(`The digest of the live settings is ${await digestOf(live.settings)}.`)
    return 0
  },
})
