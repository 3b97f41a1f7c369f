import { getQueue } from '../../api/operations/queues.ts'
import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { printDryRun } from '../../cli/dry-run.ts'
import { option } from '../../cli/inputs.ts'
import { joinList } from '../../domain/format.ts'
import { isJsonFormat } from '../../domain/output-formats.ts'
import { type QueueFile, settingsDigest } from '../../domain/queue-file.ts'
import { queueName, repositoryName } from '../../domain/values/repository.ts'
import { fileName } from '../../domain/values/types.ts'
import { MergeqError, usageError } from '../../errors.ts'
import { stringifyJson } from '../../json.ts'
import { rawText } from '../../output/printer.ts'
import {
  includeStateInput,
  isJsonFileName,
  type LoadedFile,
  loadYaml,
  queueFileEndings,
  readLive,
  readQueueFile,
  resolveQueue,
} from './plan.ts'

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
  if (!queueFileEndings.some(ending => file.toLowerCase().endsWith(ending)))
    throw usageError(
      `${file} must end in .yaml, .yml or .json.`,
      'The extension of the file determines its format.',
    )
  const isJsonFile = isJsonFileName(file)
  if (isFormatTyped && !isJsonFile) throw usageError(`--output json does not match the extension of ${file}.`)
  return isJsonFile
}

/** Formats a new queue file, or an existing one with the new settings and its comments. */
async function formatYaml(
  queueFile: QueueFile,
  old: LoadedFile | undefined,
  includesState: boolean,
): Promise<string> {
  const { rewriteYaml, writeYaml } = await loadYaml()
  return old === undefined
    ? writeYaml(queueFile)
    : rewriteYaml(old.text, old.content.settings, queueFile, !includesState)
}

/** Reads the file that is written again, if it exists. Returns it, and the request for the queue that it is about. */
async function readOldFile(file: string | undefined, context: CommandContext) {
  const exists = file !== undefined && (await context.host.files.exists(file))
  const old = exists ? await readQueueFile(file, context) : undefined
  return { old, request: await resolveQueue(file ?? '', old?.content ?? {}, context) }
}

export const queueExportCommand = defineCommand({
  command: 'queue export',
  summary: 'Export queue settings to a file for version control',
  operation: getQueue,
  isComposition: true,
  output: 'the settings as YAML, or as JSON with --json; nothing with --file',
  options: {
    file: option(
      fileName(),
      'Write to this file (.yaml, .yml or .json); comments in an existing file are kept',
      { short: 'f' },
    ),
    includeState: includeStateInput,
  },
  examples: ['mergeq queue export > queue.yaml', 'mergeq queue export -f queues/main.yaml'],
  async dryRun({ file }, context) {
    const { request } = await readOldFile(file, context)
    return printDryRun(getQueue, [request], context)
  },
  async run({ file, includeState }, context) {
    const { printer, logger, host } = context
    const isJson = isJsonOutput(file, context)
    const { old, request } = await readOldFile(file, context)
    const live = await readLive(request, includeState, context)
    if (live === undefined)
      throw new MergeqError('not-found', `The queue for ${queueName(request.values)} does not exist.`, {
        hint: 'To export another queue, use --repo and --target-branch.',
        status: 404,
      })
    if (live.unreadable.length > 0)
      await logger.warn(`Omitted settings whose live values cannot be set: ${joinList(live.unreadable)}.`)
    const { repo, targetBranch } = request.values
    const { settings } = live
    const queueFile = { repo: old?.content.repo ?? repositoryName(repo), targetBranch, settings }
    const text = isJson
      ? `${stringifyJson(queueFile, file !== undefined || host.out.terminal)}\n`
      : await formatYaml(queueFile, old, includeState)
    if (file === undefined) await printer.print(rawText(new TextEncoder().encode(text)))
    else if (text === old?.text)
      await logger.info(`${file} is up to date with the queue for ${queueName(request.values)}.`)
    else {
      await host.files.replace(file, text).catch((error: Error) => {
        throw new MergeqError('output', `${file} could not be written: ${error.message}.`, {
          hint: 'The existing file is unchanged. Check the directory and the free disk space.',
        })
      })
      await logger.info(`Exported the queue for ${queueName(request.values)} to ${file}.`)
    }
    await logger.info(`The digest of the live settings is ${await settingsDigest(settings)}.`)
    return 0
  },
})
