import { ownRecord, queueNameFields } from '../../api/operations/fields.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { isSameSetting } from '../../api/operations/queue-settings.ts'
import { getQueue, queueSettingsRecord } from '../../api/operations/queues.ts'
import { usageError } from '../../base/errors.ts'
import { type Json, stringifyJson } from '../../base/json.ts'
import { rejectTogether } from '../../command/check-inputs.ts'
import { type Cli, command } from '../../command/command.ts'
import { canPrompt, confirm } from '../../command/confirm.ts'
import { printRequests } from '../../command/dry-run.ts'
import { reportErrors } from '../../command/each.ts'
import { flag, option } from '../../command/inputs.ts'
import { setOf } from '../../command/set-option.ts'
import { forEachQueue, queuesOfMetrics } from '../../command/several-queues.ts'
import { joinPath, parentDirectory } from '../../config/store.ts'
import { rawText } from '../../output/view.ts'
import { joinList, pluralize } from '../../values/format.ts'
import {
  isSameRepository,
  parseRepository,
  type Queue,
  queueFieldsOf,
  queueKey,
  queueName,
  repositoryName,
} from '../../values/repository.ts'
import { branch, fileName } from '../../values/types.ts'
import { noQueueError } from './shared/all-queues.ts'
import { isDefaultsFile, readDefaults } from './shared/files/defaults-file.ts'
import { checkQueueOfFile, queueOfFile, readFiles } from './shared/files/described-queues.ts'
import { includeStateInput } from './shared/files/file-inputs.ts'
import { type QueueFile, settingsDigest } from './shared/files/queue-file.ts'
import {
  isJsonFileName,
  isQueueFileName,
  type LoadedFile,
  loadYaml,
  readQueueFile,
} from './shared/files/read-queue-file.ts'
import { requireLive } from './shared/plan.ts'
import { orOutputError } from './shared/record-file.ts'

/** Throws a usage error for other formats than those of a queue file, and for --fields. */
function checkFormat(file: string | undefined, { args, options, results }: Cli): void {
  const isFormatTyped = args.has('--json') || args.has('--output')
  if (options.fields.length > 0 || (isFormatTyped && results !== 'json'))
    throw usageError('A queue file is YAML or JSON.', 'Omit --output and --fields, or use --json.')
  if (file === undefined) return
  if (!isQueueFileName(file))
    throw usageError(
      `${file} must end in .yaml, .yml or .json.`,
      'The extension of the file determines its format.',
    )
  if (isDefaultsFile(file))
    throw usageError(`${file} has defaults, which name no queue.`, 'Use another file name.')
  if (isFormatTyped && !isJsonFileName(file))
    throw usageError(`--output json does not match the extension of ${file}.`)
}

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

async function readOldFile(file: string | undefined, cli: Cli): Promise<LoadedFile | undefined> {
  const exists = file !== undefined && (await cli.host.files.exists(file))
  return exists ? readQueueFile(file, cli) : undefined
}

interface Export {
  readonly queue: Queue
  /** Undefined for standard output. */
  readonly file: string | undefined
  readonly old: LoadedFile | undefined
  /** The branch that the file is for, where it is another one. */
  readonly forBranch?: string | undefined
  readonly folder?: string
}

async function exportQueue(
  { queue, file, old, forBranch, folder }: Export,
  includesState: boolean,
  cli: Cli,
) {
  const { printer, host } = cli
  const { repo } = queue
  const targetBranch = forBranch ?? queue.targetBranch
  const name = queueName(queue)
  const { settings: liveSettings, unsettable } = await requireLive(queue, includesState, cli)
  const { settings: defaults, path: defaultsPath = '' } =
    file === undefined || old?.content.defaults === false
      ? { settings: {} }
      : await readDefaults(file, folder ?? file, cli)
  const replaced = unsettable.find(key => Object.hasOwn(defaults, key) && !Object.hasOwn(liveSettings, key))
  if (replaced !== undefined)
    throw usageError(
      `The queue for ${name} has a value of ${replaced} that a file cannot have, and ${defaultsPath} would replace it.`,
      `Remove ${replaced} from ${defaultsPath}.`,
    )
  const isDefault = (key: string, value: Json) =>
    Object.hasOwn(defaults, key) && isSameSetting(key, defaults[key] ?? null, value)
  const isWritten = (key: string) =>
    [defaults, old?.content.settings ?? {}].some(settings => Object.hasOwn(settings, key))
  const omitted = unsettable.filter(key => !Object.hasOwn(liveSettings, key) || !isWritten(key))
  const settings = Object.fromEntries(
    Object.entries(liveSettings).filter(
      ([key, value = null]) => !isDefault(key, value) && !omitted.includes(key),
    ),
  )
  const { $schema, defaults: usesDefaults, repo: oldRepo = repositoryName(repo) } = old?.content ?? {}
  const queueFile = {
    ...($schema === undefined ? {} : { $schema }),
    repo: oldRepo,
    targetBranch,
    ...(usesDefaults === undefined ? {} : { defaults: usesDefaults }),
    settings,
  }
  const isJson = file === undefined ? cli.results === 'json' : isJsonFileName(file)
  const text = isJson
    ? `${stringifyJson(queueFile, file !== undefined || host.out.terminal)}\n`
    : await formatYaml(queueFile, old, includesState)
  const isCurrent = text === old?.text
  if (file === undefined) await printer.print(rawText(new TextEncoder().encode(text)))
  else if (!isCurrent) await orOutputError(file, host.files.replace(file, text))
  const done = isCurrent
    ? `${file} is up to date with the queue for ${name}.`
    : `Exported the queue for ${name} to ${file}.`
  const warning = `Omitted settings of ${name} whose live values cannot be set: ${joinList(omitted)}.`
  return {
    warnings: omitted.length === 0 ? [] : [warning],
    notes: file === undefined ? [] : [done],
    digest: await settingsDigest(liveSettings),
  }
}

/** Returns a text as a file name: characters that some file system does not allow are percent-encoded. */
const toFileName = (text: string): string =>
  text.replace(/[%/\\:*?"<>|]/g, character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

/** Reads the files of a folder that name their queue. */
async function readExports(folder: string, cli: Cli) {
  const names = (await cli.host.files.listBelow(folder)) ?? []
  const paths = names
    .filter(name => isQueueFileName(name) && !isDefaultsFile(name))
    .sort()
    .map(name => joinPath(folder, name, cli.host.runtime.platform))
  return readFiles(
    paths,
    async (_, { repo, targetBranch }) =>
      repo === undefined || targetBranch === undefined
        ? undefined
        : { repo: parseRepository(repo), targetBranch },
    cli,
  )
}

async function metricsParams({ settings }: Cli) {
  return {
    repo: await settings.readFrom('option', 'repo'),
    branch: await settings.readFrom('option', 'targetBranch'),
  }
}

async function listExports(folder: string, cli: Cli) {
  const params = await metricsParams(cli)
  const queues = await queuesOfMetrics(params, params.repo, cli)
  const described = await readExports(folder, cli)
  return queues.map(({ name, queue }) => {
    const { repo, targetBranch } = queue
    const known = described.find(other => queueKey(other.queue) === queueKey(queue))
    // The file says the host of the repository, which the metrics do not; an option overrides it.
    const isKnown =
      known !== undefined && (params.repo === undefined || isSameRepository(params.repo, known.queue.repo))
    if (isKnown) return { queue: known.queue, name, path: known.path }
    // A directory that begins with a dot would be skipped.
    const directories = repo.owner.split('/').map(part => toFileName(part).replace(/^\./, '%2E'))
    const path = [...directories, `${toFileName(`${repo.name}@${targetBranch}`)}.yaml`].reduce(
      (parent, part) => joinPath(parent, part, cli.host.runtime.platform),
      folder,
    )
    return { queue, name, path }
  })
}

async function exportAll(folder: string, yes: boolean, includesState: boolean, cli: Cli): Promise<number> {
  const { files } = cli.host
  if (cli.options.dryRun) return printRequests(cli, getMergeQueueMetrics, [await metricsParams(cli)])
  const exports = await listExports(folder, cli)
  if (exports.length === 0) throw noQueueError()
  const exist = await Promise.all(exports.map(({ path }) => files.exists(path)))
  const existing = exist.filter(Boolean).length
  if (existing > 0 && !yes) {
    const problem = `${folder} already has ${pluralize(existing, 'file')} of this export.`
    if (!canPrompt(cli)) throw usageError(problem, 'To update existing files, add --yes.')
    const question = `${problem} Update existing files?`
    await confirm({ question, expectedInput: 'y' }, cli)
  }
  const { results, failures } = await forEachQueue(cli, exports, async ({ queue, path }) => {
    const old = await readOldFile(path, cli)
    checkQueueOfFile(path, old?.content ?? {}, queueFieldsOf(queue))
    const parent = parentDirectory(path)
    await orOutputError(parent, files.createDirectory(parent, 0o777))
    return exportQueue({ queue, file: path, old, folder }, includesState, cli)
  })
  for (const text of results.flatMap(({ warnings }) => warnings)) await cli.logger.warn(text)
  for (const text of results.flatMap(({ notes }) => notes)) await cli.logger.info(text)
  return reportErrors(failures, cli)
}

export const definition = command({
  name: 'queue export',
  summary: 'Export queue settings to a file for version control',
  alsoSends: [getQueue, getMergeQueueMetrics],
  exits: ['not-found'],
  prints: {
    text: 'the settings as YAML, or as JSON with --json; nothing with --file',
    documents: [ownRecord({ ...queueNameFields, settings: queueSettingsRecord })],
    isOpen: true,
  },
  options: {
    file: option(
      fileName('file|directory'),
      'Write to this file (.yaml, .yml or .json), or to this directory with --all; comments in an existing file are kept',
      { short: 'f' },
    ),
    all: flag('Export every queue that queue list shows to a file of its own'),
    yes: flag('Update existing files without a prompt (--all)', { short: 'y' }),
    forBranch: option(branch, 'Write the settings as a file for this branch, which may have no queue yet', {
      option: 'for',
      values: 'branches',
    }),
    includeState: includeStateInput,
  },
  set: setOf(getQueue),
  examples: [
    'mergeq queue export > queue.yaml',
    'mergeq queue export -f queues/main.yaml',
    'mergeq queue export --all -f queues/ --yes',
    'mergeq queue export --for release-2.x -f queues/release-2.x.yaml',
  ],
  async run({ file, all, yes, forBranch, includeState }, cli) {
    const { logger } = cli
    rejectTogether(cli.args, ['--all', '--for'])
    if (all) {
      if (file === undefined) throw usageError('--all requires --file.', 'Specify a directory with -f.')
      checkFormat('*.yaml', cli)
      return exportAll(file, yes, includeState, cli)
    }
    checkFormat(file, cli)
    const old = await readOldFile(file, cli)
    const queue =
      forBranch === undefined
        ? await queueOfFile(file ?? '', old?.content ?? {}, cli)
        : await queueOfFile(file ?? '', { repo: old?.content.repo }, cli)
    checkQueueOfFile(file ?? '', old?.content ?? {}, { repo: undefined, targetBranch: forBranch }, '--for')
    if (cli.options.dryRun) return printRequests(cli, getQueue, [queue])
    const exported = { queue, file, old, forBranch }
    const { warnings, notes, digest } = await exportQueue(exported, includeState, cli)
    for (const text of warnings) await logger.warn(text)
    for (const text of notes) await logger.info(text)
    await logger.debug(`The digest of the live settings is ${digest}.`)
    return 0
  },
})
