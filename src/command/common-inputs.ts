import { isChange, type Operation, operationName, type Param } from '../api/operation.ts'
import { fieldNames, pullRequestRecord } from '../api/operations/fields.ts'
import { usageError } from '../base/errors.ts'
import { isObject, type JsonObject, parseJson } from '../base/json.ts'
import type { ParseContext, ParsedArgs } from '../config/settings.ts'
import { isKnownState, normalizeState } from '../domain/states.ts'
import { formatInteger, shorten } from '../values/format.ts'
import { parsePullRequest, readReference } from '../values/pull-request.ts'
import { type Queue, type Repository, repositoryKey } from '../values/repository.ts'
import { shellQuote } from '../values/suggested-command.ts'
import { branchName, readText } from '../values/text.ts'
import { choice, textual } from '../values/types.ts'
import { findSimilarField } from './fields.ts'
import { openInput } from './input-files.ts'
import {
  type FlagInput,
  flag,
  flagInput,
  flagName,
  type Input,
  type InputContext,
  option,
  paramInput,
} from './inputs.ts'

export const yesOption = flag('Skip the confirmation prompt', { short: 'y' })

/** The repository of a param, or all of the organization with `--all-repos`. */
export function repositoryOrAll(param: Param<Repository | undefined>): Input<Repository | undefined> {
  const repo = paramInput('repo', param)
  return {
    ...repo,
    definitions: [
      {
        name: '--all-repos',
        summary: 'Include all repositories of the organization (the default without --repo)',
      },
    ],
    read(args, context) {
      if (!args.has('--all-repos')) return repo.read(args, context)
      if (args.has('--repo'))
        throw usageError('--all-repos and --repo cannot be used together.', 'Use only one of them.')
      return undefined
    },
  }
}

const terminalLimit = 30

/** The limit of a list: by default 30 records on a terminal, otherwise undefined for all. */
export function limitInput(param: Param<number | undefined>): Input<number | undefined> {
  const typed = paramInput('limit', {
    ...param,
    defaultText: `${terminalLimit} on a terminal, otherwise all`,
  })
  return {
    ...typed,
    read: async (args, context) =>
      (await typed.read(args, context)) ?? (context.host.out.terminal ? terminalLimit : undefined),
  }
}

/**
 * Returns the line below a list on a terminal that a limit cut.
 *
 * @param count the records that are shown, such as `30 flaky tests`
 */
export const cutListSentence = (count: string): string =>
  `Showing ${count}; there are more. To list more, add --limit 1000.`

export const webOption = flag('Open the page in the browser instead of printing', { short: 'w' })

const maxItems = 10_000

/** Bytes of standard input; far more than the receipts of 10,000 pull requests have. */
const maxInputSize = 16 * 1024 * 1024

/**
 * Reads what the lines of standard input name, at most 10,000 items; empty lines are ignored.
 *
 * @param noun what the items are, in the plural: `pull requests`
 * @param hint what to write if there are none
 * @param mayBeEmpty whether no line at all is no error
 */
export async function readInputItems<T>(
  noun: string,
  hint: string,
  readLine: (line: string) => readonly T[],
  context: ParseContext,
  mayBeEmpty = false,
): Promise<readonly T[]> {
  const text = await readText(openInput('-', context), 'Standard input', maxInputSize)
  const lines = text.split(/\r?\n/).filter(line => line.trim() !== '')
  if (lines.length === 0 && !mayBeEmpty)
    throw usageError('Standard input was empty; the previous command may have failed.', hint)
  const items = lines.flatMap(readLine)
  if (items.length <= maxItems) return items
  throw usageError(
    `Too many ${noun} (${formatInteger(items.length)}): the limit is ${formatInteger(maxItems)}.`,
    'Split the list, and run the command once for each part.',
  )
}

/** Whether a line of an earlier run needs no further work; undefined when it is not a line of mergeq. */
function isDone({ type, ok, exit }: JsonObject): boolean | undefined {
  if (type === 'change') return true
  if (type === 'result') return typeof exit === 'number' ? exit === 0 : undefined
  return typeof ok === 'boolean' ? ok : undefined
}

/**
 * The pull request in a row that mergeq printed: of `pr list` each one, with a known state and a time, of receipts those
 * that were no success.
 */
function wordsInRow(line: string): readonly string[] {
  const [pr = '', second = '', third = ''] = line.split('\t')
  if (second === 'true') return []
  if (second === 'false') return [pr]
  if (isKnownState(normalizeState(second)) && !Number.isNaN(Date.parse(third))) return [pr]
  throw usageError(
    `'${line.slice(0, 80)}' is not a row of \`mergeq pr list\` or the JSON of an earlier change.`,
    'Write one pull request per line: a number, a URL, or what `mergeq pr list` prints on a pipe.',
  )
}

/** A pull request as it is typed, with the branch of the record that names it. */
interface NamedPullRequest {
  readonly word: string
  readonly targetBranch?: string
}

/** The pull request as it is typed, or from a row, a receipt or a result of a wait that was not a success. */
function pullRequestsIn(line: string, operation: Operation | undefined): readonly NamedPullRequest[] {
  if (line.trim().includes('\t')) return wordsInRow(line).map(word => ({ word }))
  if (!line.trim().startsWith('{')) return [{ word: line.trim() }]
  const receipt = parseJson(line)
  const done = isObject(receipt) ? isDone(receipt) : undefined
  if (!isObject(receipt) || typeof receipt.pr !== 'number' || done === undefined)
    throw usageError(
      `Standard input has JSON that is not the result of an earlier run: '${shorten(line, 40)}'.`,
      'Pipe `mergeq pr list` without --json, or write one pull request per line: a number, a URL or a result with --json.',
    )
  const change = operation !== undefined && isChange(operation) ? operationName(operation.route) : undefined
  if (change !== undefined && typeof receipt.operation === 'string' && receipt.operation !== change)
    throw usageError(
      `Standard input has the receipt of another operation: ${receipt.operation}, not ${change}.`,
      'Name the pull requests, or pipe the receipts of the same command.',
    )
  if (done) return []
  const { pr, repo, targetBranch } = receipt
  return [
    {
      word: typeof repo === 'string' ? `https://${repo}/pull/${pr}` : String(pr),
      ...(typeof targetBranch === 'string' ? { targetBranch } : {}),
    },
  ]
}

/** Returns the arguments of a pull request in the queue that its record names; `-b` may not name another one. */
function argsInQueue(args: ParsedArgs, { word, targetBranch }: NamedPullRequest): ParsedArgs {
  const own = argsForPullRequest(args, word)
  if (targetBranch === undefined) return own
  const typed = args.get('--target-branch')?.[0]
  if (typed !== undefined && branchName(typed) !== targetBranch)
    throw usageError(
      `The record of #${own.get('pr')?.[0]} on standard input and --target-branch name different branches: ${targetBranch}, ${branchName(typed)}.`,
      'Omit --target-branch, or the records of other branches.',
    )
  // A ref means exactly that branch.
  return new Map(own).set('--target-branch', [`refs/heads/${targetBranch}`])
}

export function argsForPullRequest(args: ParsedArgs, word: string): ParsedArgs {
  // With gh, the names of fields follow --json.
  if (args.has('--json') && /^[a-z]+(?:,[a-z]+)*$/i.test(word)) {
    const known = fieldNames(pullRequestRecord)
    const names = word.split(',').map(name => findSimilarField(name, known) ?? name)
    throw usageError(
      `'${word}' is not a pull request.`,
      `To print only some fields, use: --json --fields ${names.join(',')}`,
    )
  }
  // With gh, -q is followed by what jq selects.
  if (/^\.[\w[]/.test(word))
    throw usageError(
      `'${word}' is not a pull request.`,
      `To select from the JSON, replace -q and what follows with: --json | jq ${shellQuote(word)}`,
    )
  const { number, repo } = readReference(word, args.get('--repo')?.[0], flagName)
  const requestArgs = new Map(args).set('pr', [String(number)])
  // The repository that was typed stays as it was typed.
  return repo === undefined || args.has('--repo') ? requestArgs : requestArgs.set('--repo', [repo])
}

/** The option `--pr`: a pull request, whose address also names the repository. */
export const pullRequestOption = (summary: string): FlagInput<number | undefined> =>
  flagInput(
    'pr',
    option(
      textual({
        expected: 'a pull request',
        placeholder: 'pr',
        parse: word => parsePullRequest(word).number,
      }),
      summary,
      { values: 'pull-requests' },
    ),
  )

/** The queue of a command: the pull request in its option `--pr` may name the repository. */
export const queueOrPullRequest: Input<Queue> = {
  definitions: [],
  setting: 'targetBranch',
  async read(args, { settings }) {
    const [asked] = args.get('--pr') ?? []
    const own = settings.withArgs(asked === undefined ? args : argsForPullRequest(args, asked))
    return { repo: await own.require('repo'), targetBranch: await own.require('targetBranch') }
  },
}

/** Returns each pull request once: a restart that is sent twice would begin twice. */
async function withoutRepeats(
  requests: readonly ParsedArgs[],
  { settings }: ParseContext,
): Promise<readonly ParsedArgs[]> {
  const named = requests.map(request => request.get('--repo')?.[0])
  // A number is compared with an address: it belongs to the repository of the settings.
  const isMixed = named.includes(undefined) && named.some(repo => repo !== undefined)
  const own = isMixed ? await settings.read('repo') : undefined
  const unique = new Map<string, ParsedArgs>()
  for (const [index, each] of requests.entries()) {
    const repo = named[index] ?? (own && repositoryKey(own)) ?? ''
    const branch = branchName(each.get('--target-branch')?.[0] ?? '')
    const key = `${repo.toLowerCase()} ${each.get('pr')} ${branch}`
    if (!unique.has(key)) unique.set(key, each)
  }
  return [...unique.values()]
}

export const numberInArgs = (args: ParsedArgs): number => parsePullRequest(args.get('pr')?.[0] ?? '').number

const ifEmptyInput = flagInput(
  'ifEmpty',
  option(
    choice(['fail', 'ok'], 'fail|ok'),
    'If standard input (-) names no pull request: fail exits 2, ok exits 0',
    {
      default: 'fail',
      advanced: true,
    },
  ),
)

/** How the pull requests of a command are typed. */
export const pullRequestArguments = {
  definitions: [
    {
      name: 'pr',
      variadic: true,
      summary: "Pull requests: 123, '#123' or a URL; use - to read them from standard input",
      defaultText: 'that of the current branch',
      values: 'pull-requests',
    },
    { name: '--stop-on-error', summary: 'Stop at the first failure', advanced: true },
    ...ifEmptyInput.definitions,
  ],
  setting: 'pr',
} as const satisfies Pick<Input<unknown>, 'definitions' | 'setting'>

/** Returns the arguments of each pull request that was typed. */
export async function readPullRequestArgs(
  typed: readonly string[],
  args: ParsedArgs,
  context: InputContext,
): Promise<readonly ParsedArgs[]> {
  const hint = 'If no pull request is no mistake, add --if-empty ok.'
  const mayBeEmpty = ifEmptyInput.read(args) === 'ok'
  const read = typed.includes('-')
    ? await readInputItems(
        'pull requests',
        hint,
        line => pullRequestsIn(line, context.operation),
        context,
        mayBeEmpty,
      )
    : []
  const words = typed.flatMap((word): readonly NamedPullRequest[] => (word === '-' ? read : [{ word }]))
  if (words.length === 0) await context.logger.info('Standard input names no pull request: nothing to do.')
  return withoutRepeats(
    words.map(word => argsInQueue(args, word)),
    context,
  )
}
