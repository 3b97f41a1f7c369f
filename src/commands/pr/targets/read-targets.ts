import { encodeTargets, findLineProblem, type ImpactedTargets, TargetList } from '../../../api/target-list.ts'
import { usageError } from '../../../base/errors.ts'
import { openInput } from '../../../command/input-files.ts'
import { flagName, type InputContext } from '../../../command/inputs.ts'
import { runUserProgram } from '../../../command/user-program.ts'
import { isContinuousIntegration } from '../../../config/ci-systems.ts'
import type { ParseContext } from '../../../config/settings.ts'
import { withoutTokens } from '../../../config/token-program.ts'
import { sanitizeLine } from '../../../output/sanitize.ts'
import { formatBytes, pluralize } from '../../../values/format.ts'

/** What an empty list means. */
type IfEmpty = 'fail' | 'none' | 'all'

/** Reads the targets that an argument or option gives; `words` are the targets, the file or the program. */
export async function readTargets(
  source: string,
  words: readonly string[],
  ifEmpty: IfEmpty,
  context: InputContext,
): Promise<ImpactedTargets> {
  switch (source) {
    case '--all':
      return encodeTargets('ALL')
    case '--none':
      return encodeTargets([])
    case '--from-json':
      return unlessEmpty(await readFromFile(source, words, context), source, ifEmpty)
    case '--from':
      return unlessAll(unlessEmpty(await readFromFile(source, words, context), source, ifEmpty))
    case '--exec':
      return unlessAll(unlessEmpty(await readFromProgram(words, context), source, ifEmpty))
    default:
      checkArguments(words)
      return unlessAll(encodeTargets(words))
  }
}

/** Throws a usage error for a list whose only target is ALL: every target is meant. */
function unlessAll(targets: ImpactedTargets): ImpactedTargets {
  const { list } = targets
  const alone = '["ALL"]'
  if (list === 'ALL' || list.bytes !== alone.length || Buffer.concat(list.chunks).toString() !== alone)
    return targets
  throw usageError(
    'ALL alone is not a target.',
    'To mark every target as impacted, use --all. For a target with this name, use --from-json with ["ALL"].',
  )
}

/** Throws a usage error for words that a shell has made of JSON, and for control characters. */
function checkArguments(words: readonly string[]): void {
  for (const [index, word] of words.entries()) {
    const found = findLineProblem(word, '--from-json')
    if (found !== undefined) throw usageError(`Target ${index + 1} ${found.problem}.`, found.hint)
  }
}

/** Returns a list that was read, or what --if-empty says about an empty one. */
function unlessEmpty(targets: ImpactedTargets, source: string, ifEmpty: IfEmpty): ImpactedTargets {
  if (targets.number > 0 || targets.list === 'ALL' || targets.list.bytes > 2) return targets
  if (ifEmpty !== 'fail') return encodeTargets(ifEmpty === 'all' ? 'ALL' : [])
  throw usageError(
    `${source}: the list of targets is empty.`,
    'The command that wrote the list may have failed: --exec finds that out. If the list may be empty, add --if-empty none.',
  )
}

function readFromFile(
  source: '--from' | '--from-json',
  [path = '']: readonly string[],
  context: ParseContext,
): Promise<ImpactedTargets> {
  const list = new TargetList(flagName)
  return context.logger.withSpinner(
    () => `Reading targets: ${pluralize(list.number, 'target')}, ${formatBytes(list.bytesRead)} so far`,
    async () => {
      const input = openInput(path, context)
      return source === '--from' ? list.readLines(input) : list.readJson(input)
    },
  )
}

/** Runs a program and reads targets from what it prints. Throws a usage error for another code than 0. */
async function readFromProgram(
  words: readonly string[],
  { host, settings, client }: InputContext,
): Promise<ImpactedTargets> {
  if (words.length === 0)
    throw usageError(
      '--exec: no program was given.',
      'Specify it after --, for example: mergeq pr targets --exec -- npx nx show projects --affected',
    )
  const { isDryRun, token } = client()
  if (isDryRun !== true && (await settings.read('forkedRun')) === undefined) await token()
  let targets: ImpactedTargets | undefined
  let problem: unknown
  const code = await runUserProgram(host, words, {
    env: withoutTokens(host.env),
    output: {
      async read(output) {
        try {
          const nameOf = (name: string) => (name === 'from' ? '--exec' : flagName(name))
          targets = await new TargetList(nameOf).readLines(output)
        } catch (error) {
          problem = error
        }
      },
      ...(isContinuousIntegration(host.env) ? { line: text => host.err.write(`${text}\n`) } : {}),
    },
  })
  if (code !== 0)
    throw usageError(
      `--exec: ${sanitizeLine(words[0] ?? '')} ended with exit code ${code}${code > 128 ? ` (signal ${code - 128})` : ''}. Nothing was sent.`,
      'Its list of targets may be incomplete. Find out why it failed.',
    )
  if (targets === undefined) throw problem
  return targets
}
