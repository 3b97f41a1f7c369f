import type { ParseContext } from '../../config/settings.ts'
import { formatBytes, pluralize } from '../../domain/format.ts'
import { maxBodySize } from '../../domain/limits.ts'
import { createStringArray, type StringArray } from '../../domain/values/string-array.ts'
import {
  encodeTargets,
  type ImpactedTargets,
  parseJsonStrings,
  parseLines,
  readTargets,
  type TargetParser,
} from '../../domain/values/target-list.ts'
import { sanitizeLine } from '../../output/sanitize.ts'

/** A list that was not read to its end counts as over the limit. */
const targetsOf = (list: StringArray, read: number, isWhole: boolean): ImpactedTargets => ({
  list: isWhole
    ? list.encoded()
    : { chunks: [new Uint8Array(0)], bytes: Math.max(list.bytes, maxBodySize + 1) },
  number: list.number,
  dropped: list.dropped,
  bytesRead: read,
})

async function readInput(
  path: string,
  name: string,
  reading: TargetParser,
  context: ParseContext,
): Promise<ImpactedTargets> {
  const list = createStringArray(maxBodySize)
  let read = 0
  const isWhole = await context.withSpinner(
    () => `Reading targets: ${pluralize(list.number, 'target')}, ${formatBytes(read)} so far`,
    () =>
      readTargets(context.open(path), reading, list, name, bytes => {
        read = bytes
      }),
  )
  return targetsOf(list, read, isWhole)
}

/** Matches what Git Bash makes of `//a:one` and of `/a:one`. */
const rewrittenPath = /^(?:\/(?!\/)|[A-Za-z]:[\\/])/

/** Encodes typed targets. Prints a note if the shell seems to have rewritten one of them. */
async function encodeTyped(words: readonly string[], context: ParseContext): Promise<ImpactedTargets> {
  const rewritten = context.rewritesPaths ? words.find(word => rewrittenPath.test(word)) : undefined
  if (rewritten !== undefined)
    await context.note(
      `Git Bash may have rewritten the target ${sanitizeLine(rewritten)}. To send targets unchanged, set MSYS_NO_PATHCONV=1 or use --from.`,
    )
  return encodeTargets(words)
}

export async function readTargetSource(
  source: string,
  words: readonly string[],
  context: ParseContext,
): Promise<ImpactedTargets> {
  if (source === '--all') return encodeTargets('ALL')
  if (source === '--none') return encodeTargets([])
  if (source === 'target') return encodeTyped(words, context)
  return readInput(words[0] ?? '', source, source === '--from' ? parseLines : parseJsonStrings, context)
}
