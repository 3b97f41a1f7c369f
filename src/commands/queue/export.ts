import { getQueue } from '../../api/operations/queues.ts'
import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { option } from '../../cli/inputs.ts'
import { printDryRun } from '../../cli/run-operation.ts'
import { joinList } from '../../domain/format.ts'
import { isSameSetting, settingsDigest } from '../../domain/queue-file.ts'
import { repositoryName, textParser } from '../../domain/values/parsers.ts'
import { MergeqError, usageError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { stringifyJson } from '../../json-text.ts'
import { queueName, readLive, requestFor } from './file/plan.ts'
import { isQueueFileName, parseQueueText, queueFileInputs, readQueueText } from './file/read-files.ts'
import { queueGet } from './get.ts'

const comment =
  ' A merge queue as code: `mergeq queue diff -f` compares it with the live queue,\n `mergeq queue apply -f` makes the queue so. What is not named here is left alone.'

/** The format of what is written: the file's ending says it, else `-o`; nothing else may be said aloud. */
function isJsonOf(file: string | undefined, { args, options }: CommandContext): boolean {
  const aloud = args.has('--json') || args.has('--output')
  const isJson = /^(nd)?json$/.test(options.format)
  if (options.fields.length > 0 || (aloud && !isJson))
    throw usageError('A queue as code is YAML or JSON.', 'Leave --output and --fields out, or say --json.')
  if (file === undefined) return isJson
  if (!isQueueFileName(file))
    throw usageError(
      `${file} ends in none of .yaml, .yml and .json.`,
      'The ending of the file says its format.',
    )
  const isJsonFile = /\.json$/i.test(file)
  if (aloud && !isJsonFile) throw usageError(`--output json contradicts the ending of ${file}.`)
  return isJsonFile
}

/** What the file should hold now; what stands in it already, comments and all, is kept where it means the same. */
async function textFor(
  value: { readonly repo: string; readonly targetBranch: string; readonly settings: JsonObject },
  before: { readonly text: string; readonly settings: JsonObject } | undefined,
  isJson: boolean,
  withState: boolean,
): Promise<string> {
  if (isJson) return `${stringifyJson(value, true)}\n`
  const { rewriteYaml, writeYaml } = await import('./file/yaml.ts')
  if (before === undefined) return writeYaml(value, comment)
  const { settings, ...head } = value
  const isForeign = (key: string) => key === 'state' && !withState
  return rewriteYaml(before.text, before.settings, {
    head,
    key: 'settings',
    values: settings,
    isForeign,
    isSame: isSameSetting,
  })
}

/** `queue export`: a live queue's settings as a file. */
export const exportQueue = defineCommand({
  command: 'queue export',
  summary: 'Write the settings of a queue as a file for version control',
  request: queueGet,
  output: 'the file, as YAML or, with --json or by its ending, JSON; nothing with -f',
  inputs: {
    file: option(
      '-f, --file <file>',
      'Write there (.yaml, .yml or .json) instead of to standard output; comments are kept',
      textParser('file name'),
      { file: true },
    ),
    ...queueFileInputs,
  },
  examples: ['mergeq queue export > queue.yaml', 'mergeq queue export -f queues/main.yaml'],
  async run({ file, includeState }, context) {
    const { options, printer, logger, host } = context
    const isJson = isJsonOf(file, context)
    const standing = file === undefined ? undefined : await readQueueText(file, context)
    const code = standing === undefined ? { settings: {} } : await parseQueueText(standing, file ?? '')
    const run = await requestFor({ path: file ?? '', code }, context)
    if (options.dryRun) return printDryRun(getQueue, [run], context)
    const live = await readLive(run, includeState, context)
    if (live === undefined)
      throw new MergeqError('not-found', `queue export: there is no queue of ${queueName(run)}.`, {
        hint: 'Name another with --repo and --target-branch.',
        status: 404,
      })
    if (live.unreadable.length > 0)
      await logger.warn(`left out, as the live value could not be set again: ${joinList(live.unreadable)}.`)
    const { repo, targetBranch } = run.values
    const value = { repo: code.repo ?? repositoryName(repo), targetBranch, settings: live.settings }
    const before = standing === undefined ? undefined : { text: standing, settings: code.settings }
    const written = await textFor(value, before, isJson && options.format !== 'ndjson', includeState)
    if (file === undefined)
      await printer.print({
        records: [],
        document: () => null,
        shape: () => ({ columns: [], rows: [] }),
        rawBody: new TextEncoder().encode(isJson ? `${stringifyJson(value, host.out.terminal)}\n` : written),
      })
    else if (written === standing) await logger.info(`${file} is as the queue of ${queueName(run)} is.`)
    else {
      await host.files.replace(file, written).catch((error: Error) => {
        throw new MergeqError('output', `${file} could not be written: ${error.message}.`, {
          hint: 'What was there is as it was. Check the folder and the space on its disk.',
        })
      })
      await logger.info(`Wrote the queue of ${queueName(run)} to ${file}.`)
    }
    await logger.info(`The digest of the live settings is ${await settingsDigest(live.settings)}.`)
    return 0
  },
})
