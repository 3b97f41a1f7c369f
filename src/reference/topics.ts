import { endings } from '../failure.ts'

/** What a setting's row tells of itself. */
export interface Told {
  readonly flag?: string
  readonly env: readonly string[]
  readonly fallback?: string
  readonly summary: string
}

/** Lines of columns, each as wide as its widest cell; the last one is left as it is. */
function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map(row => row[index]?.length ?? 0)))
  return rows
    .map(row =>
      row
        .map((text, index) => (index === row.length - 1 ? text : text.padEnd(widths[index] ?? 0)))
        .join('  '),
    )
    .map(line => `${line.trimEnd()}\n`)
    .join('')
}

const exitCodes = (): string =>
  `Exit codes:\n\n${aligned(endings.map(({ code, kind, when }) => [String(code).padStart(3), kind, when.replaceAll('`', '')]))}
With several pull requests the worst one wins. A closed pipe on standard output ends quietly.
`

const others: readonly (readonly string[])[] = [
  ['MERGEQ_TOKEN', 'API token; TRUNK_API_TOKEN is used for the default base address only'],
  ['CI', 'When set, nothing is ever asked'],
  ['HTTPS_PROXY, NO_PROXY', 'Proxy for https, and the hosts that are reached without it; in either case'],
  ['NODE_EXTRA_CA_CERTS', 'Further certificate authorities, as --ca-file'],
  ['NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, TERM=dumb', 'Colour, after --color'],
]

const environment = (settings: readonly Told[]): string =>
  `Environment variables, each after its flag:\n\n${aligned([
    ...settings
      .filter(({ env }) => env.length > 0)
      .map(({ flag, env, summary, fallback }) => [
        env.join(', '),
        flag ?? '',
        fallback === undefined ? summary : `${summary} (default ${fallback})`,
      ]),
  ])}\n${aligned(others)}`

const formatting = (): string => `Formats (--output, --json, MERGEQ_OUTPUT):

  table     a table on a terminal; on a pipe the same rows as tab-separated values, without a header
  json      the service's own document; a receipt for each change; indented on a terminal
  ndjson    one record a line, written as it arrives
  csv       a header and RFC 4180 lines; cells that a spreadsheet would run are defused
  markdown  a table with its cells escaped

--fields state,readiness.hasImpactedTargets picks fields by name, in every format.
Standard output is the answer and nothing else; everything else goes to standard error.

  mergeq pr get 123 --json | jq -r .state
  mergeq flaky list --since 7d -o ndjson | jq -r .name
`

/** The topics of `mergeq help <topic>`: each is made from the tables that the program itself uses. */
export const topics: Readonly<Record<string, (settings: readonly Told[]) => string>> = {
  'exit-codes': exitCodes,
  environment,
  formatting,
}
