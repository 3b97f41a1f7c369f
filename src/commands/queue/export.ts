import { getQueue } from '../../api/operations/queues.ts'
import { printDryRun } from '../../cli/confirm.ts'
import type { CommandContext } from '../../cli/context.ts'
import { defineCustomCommand } from '../../cli/custom-command.ts'
import { option } from '../../cli/inputs.ts'
import { joinList } from '../../domain/format.ts'
import { isJsonFormat } from '../../domain/output-formats.ts'
import { isSameSetting, settingsDigest } from '../../domain/queue-file.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { textParser } from '../../domain/values/text.ts'
import { MergeqError, usageError } from '../../errors.ts'
import { type JsonObject, stringifyJson } from '../../json.ts'
import { rawText } from '../../output/printer.ts'
import { queueName, readLive, resolveQueue } from './file/plan.ts'
import { isQueueFileName, parseQueueText, queueFileInputs, readQueueText } from './file/read-files.ts'
import { queueRequest } from './get/queue-request.ts'

/** The comment at the top of a new YAML file. */
const fileComment =
  ' Settings of a merge queue. `mergeq queue diff -f` compares them with the live queue, and\n `mergeq queue apply -f` applies them. Settings that are not listed here stay unchanged.'

/**
 * Whether the output is JSON instead of YAML: by the extension of the file, else by `-o`. Throws a usage
 * error for other formats, for --fields and for a format that contradicts the extension.
 */
function isJsonOutput(file: string | undefined, { args, options }: CommandContext): boolean {
  const isFormatTyped = args.has('--json') || args.has('--output')
  const isJson = isJsonFormat(options.format)
  if (options.fields.length > 0 || (isFormatTyped && !isJson))
    throw usageError('A queue file is YAML or JSON.', 'Omit --output and --fields, or use --json.')
  if (file === undefined) return isJson
  if (!isQueueFileName(file))
    throw usageError(
      `${file} must end in .yaml, .yml or .json.`,
      'The extension of the file determines its format.',
    )
  const isJsonFile = /\.json$/i.test(file)
  if (isFormatTyped && !isJsonFile) throw usageError(`--output json does not match the extension of ${file}.`)
  return isJsonFile
}

/** Returns the new text of the file. Comments and unchanged values of an existing YAML file are kept. */
async function formatQueueFile(
  queueFile: { readonly repo: string; readonly targetBranch: string; readonly settings: JsonObject },
  previous: { readonly text: string; readonly settings: JsonObject } | undefined,
  isJson: boolean,
  includesState: boolean,
): Promise<string> {
  if (isJson) return `${stringifyJson(queueFile, true)}\n`
  const { rewriteYaml, writeYaml } = await import('./file/yaml.ts')
  if (previous === undefined) return writeYaml(queueFile, fileComment)
  const { settings, ...identity } = queueFile
  const isForeign = (key: string) => key === 'state' && !includesState
  return rewriteYaml(previous.text, previous.settings, {
    rootValues: identity,
    key: 'settings',
    values: settings,
    isForeign,
    isSame: isSameSetting,
  })
}

/** Reads the file to write, if it exists, and resolves the format of the export and its queue. */
async function prepareExport(file: string | undefined, context: CommandContext) {
  const isJson = isJsonOutput(file, context)
  const existingText = file === undefined ? undefined : await readQueueText(file, context)
  const existing =
    existingText === undefined ? { settings: {} } : await parseQueueText(existingText, file ?? '')
  const invocation = await resolveQueue({ path: file ?? '', content: existing }, context)
  return { isJson, existingText, existing, invocation }
}

/** `queue export`: writes the live settings of a queue to a file or to standard output. */
export const queueExportCommand = defineCustomCommand({
  command: 'queue export',
  summary: 'Export queue settings to a file for version control',
  request: queueRequest,
  readsRequests: true,
  output: 'the settings as YAML, or as JSON with --json; nothing with --file',
  inputs: {
    file: option({
      name: 'file',
      short: 'f',
      value: 'file',
      summary: 'Write to this file (.yaml, .yml or .json); comments in an existing file are kept',
      file: true,
      parse: textParser('file name'),
    }),
    ...queueFileInputs,
  },
  examples: ['mergeq queue export > queue.yaml', 'mergeq queue export -f queues/main.yaml'],
  async dryRun({ file }, context) {
    const { invocation } = await prepareExport(file, context)
    return printDryRun(getQueue, [invocation], context)
  },
  async run({ file, includeState }, context) {
    const { options, printer, logger, host } = context
    const { isJson, existingText, existing, invocation } = await prepareExport(file, context)
    const live = await readLive(invocation, includeState, context)
    if (live === undefined)
      throw new MergeqError('not-found', `The queue for ${queueName(invocation)} does not exist.`, {
        hint: 'To export another queue, use --repo and --target-branch.',
        status: 404,
      })
    if (live.unreadable.length > 0)
      await logger.warn(`Omitted settings whose live values cannot be set: ${joinList(live.unreadable)}.`)
    const { repo, targetBranch } = invocation.values
    const queueFile = { repo: existing.repo ?? repositoryName(repo), targetBranch, settings: live.settings }
    const previous =
      existingText === undefined ? undefined : { text: existingText, settings: existing.settings }
    const newText = await formatQueueFile(
      queueFile,
      previous,
      isJson && options.format !== 'ndjson',
      includeState,
    )
    if (file === undefined) {
      const text = isJson ? `${stringifyJson(queueFile, host.out.terminal)}\n` : newText
      await printer.print(rawText(new TextEncoder().encode(text)))
    } else if (newText === existingText)
      await logger.info(`${file} is up to date with the queue for ${queueName(invocation)}.`)
    else {
      await host.files.replace(file, newText).catch((error: Error) => {
        throw new MergeqError('output', `${file} could not be written: ${error.message}.`, {
          hint: 'The existing file is unchanged. Check the directory and the free disk space.',
        })
      })
      await logger.info(`Exported the queue for ${queueName(invocation)} to ${file}.`)
    }
    await logger.info(`The digest of the live settings is ${await settingsDigest(live.settings)}.`)
    return 0
  },
})
