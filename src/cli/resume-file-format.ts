import type { Checkpoint } from '../api/pagination.ts'
import { get, getString, type Json } from '../json.ts'
import { jsonToText, parseJson, stringifyJson } from '../json-text.ts'

/** The format in the first line of a resume file; another format gets another number. */
const fileFormat = 'mergeq walk 1'

/** How far a list was printed: the checkpoint, and the ids of the printed tests, a line for each page. */
export interface SavedProgress {
  readonly checkpoint: Checkpoint
  readonly query: Json | undefined
  readonly typed: string | undefined
  readonly lines: string
  readonly idCount: number
  /** Whether the run is active or was killed: its last page may be incomplete and is not in the file. */
  readonly isRunning: boolean
}

const isCount = (value: Json | undefined): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

export function parseResumeFile(
  text: string,
): (SavedProgress & { readonly ids: readonly string[] }) | undefined {
  const [first = '', ...rest] = text.split('\n')
  const head = parseJson(first)
  const token = getString(head, 'token')
  const [start, end, window, pages, tests] = ['start', 'end', 'window', 'pages', 'tests'].map(key =>
    get(head, key),
  )
  const lists = rest.slice(0, -1).map(line => parseJson(line))
  const ids = lists.flatMap(list => (Array.isArray(list) ? list.map(id => jsonToText(id)) : []))
  const isWhole = rest.at(-1) === '' && ids.length === get(head, 'ids')
  if (getString(head, 'form') !== fileFormat || token === undefined || !isWhole) return undefined
  if (!isCount(start) || !isCount(end) || start >= end) return undefined
  if (!isCount(window) || !isCount(pages) || !isCount(tests)) return undefined
  return {
    checkpoint: {
      range: { start, end },
      window,
      token,
      pages,
      tests,
      complete: get(head, 'complete') === true,
    },
    query: get(head, 'query'),
    typed: getString(head, 'typed'),
    lines: rest.join('\n'),
    idCount: ids.length,
    ids,
    isRunning: get(head, 'running') === true,
  }
}

export function formatResumeFile({
  checkpoint,
  query,
  typed,
  lines,
  idCount,
  isRunning,
}: SavedProgress): string {
  const { range, ...position } = checkpoint
  const head = {
    form: fileFormat,
    query: query ?? null,
    typed: typed ?? null,
    ...range,
    ...position,
    ids: idCount,
    ...(isRunning ? { running: true } : {}),
  }
  return `${stringifyJson(head)}\n${lines}`
}
