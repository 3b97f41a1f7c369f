import type { Format } from '../../domain/output-formats.ts'
import { exitCodeList } from '../../errors.ts'
import { alignColumns, indentText, wrapText } from './text-layout.ts'
import type { Topic } from './topic-names.ts'

/** A setting with everything that its documentation is generated from. */
export interface DocumentedSetting {
  /** The option for the setting: `--repo`. */
  readonly flag?: string
  /** The environment variables for the setting. */
  readonly env: readonly string[]
  readonly default?: string
  readonly defaultText?: string
  readonly summary: string
}

/** The environment variables that belong to no setting, each with a description. */
export const otherVariables: readonly (readonly [names: string, description: string])[] = [
  ['MERGEQ_TOKEN', 'API token; an empty one counts as unset'],
  ['TRUNK_API_TOKEN', 'API token where MERGEQ_TOKEN is not set, for the default base address only'],
  ['MERGEQ_GUARD', '`off` lets a push go without asking the queue (`mergeq guard`)'],
  ['MERGEQ_DEBUG', '`1` also prints the stack trace of an error, on standard error'],
  ['MERGEQ_CONFIG_DIR', "Folder of the stored settings (default: the platform's own)"],
  ['XDG_CONFIG_HOME, XDG_CACHE_HOME', 'Where that folder, and the cache of compiled code, lie on Linux'],
  [
    'CI',
    'When set, nothing is ever asked; the variables of the CI job give repository, branch and pull request',
  ],
  ['HTTPS_PROXY, NO_PROXY', 'Proxy for https, and the hosts that are reached without it; in either case'],
  ['NODE_EXTRA_CA_CERTS', 'Further certificate authorities, as --ca-file'],
  ['NODE_DISABLE_COMPILE_CACHE', 'When set, no compiled code is kept'],
  ['NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, TERM', 'Colour, after --color; TERM=dumb has none'],
]

/** Returns the environment variables of each setting; the description begins with the option. */
export const listSettingVariables = (
  settings: readonly DocumentedSetting[],
): readonly (readonly [names: string, description: string])[] =>
  settings
    .filter(({ env }) => env.length > 0)
    .map(({ flag, env, summary, default: value, defaultText = value }) => {
      const option = flag === undefined ? '' : `${flag}: `
      const defaultNote = defaultText === undefined ? '' : ` (default ${defaultText})`
      return [env.join(', '), `${option}${summary}${defaultNote}`]
    })

/** The output formats, each with a description. */
export const formatRows: readonly (readonly [name: Format, description: string])[] = [
  ['table', 'a table on a terminal; on a pipe the same rows as tab-separated values, without a header'],
  [
    'json',
    "the service's own document; a receipt for each change; indented on a terminal; --json is short for it",
  ],
  ['ndjson', 'one record a line, written as it arrives'],
  ['csv', 'a header and RFC 4180 lines; cells that a spreadsheet would run are defused'],
  ['markdown', 'a table with its cells escaped'],
]

const renderParagraph = (text: string, width: number): string => `${wrapText(text, width).join('\n')}\n`

const renderExitCodes = (width: number): string =>
  [
    'Exit codes:\n\n',
    alignColumns(
      exitCodeList.map(({ code, kind, when }) => [String(code).padStart(3), kind, when.replaceAll('`', '')]),
      width,
    ),
    '\n',
    renderParagraph(
      'With several pull requests the worst one wins. A closed pipe on standard output ends quietly, with the code that the command would have had. The help of each command names the codes that it can give.',
      width,
    ),
  ].join('')

const renderEnvironment = (width: number, settings: readonly DocumentedSetting[]): string =>
  [
    'Environment variables, where no flag is typed:\n\n',
    alignColumns(listSettingVariables(settings), width),
    '\nOthers:\n\n',
    alignColumns(otherVariables, width),
    '\n',
    renderParagraph(
      'First found wins: flag, environment, project file, profile, the variables of the CI job, the git checkout, default. `mergeq config list --show-origin` says where each value comes from here and now.',
      width,
    ),
  ].join('')

const renderFormatting = (width: number): string =>
  [
    'Formats (--output, --json, MERGEQ_OUTPUT):\n\n',
    alignColumns(formatRows, width),
    '\n',
    renderParagraph(
      '--fields state,readiness.hasImpactedTargets picks fields by name, in every format. Standard output is the answer and nothing else; everything else goes to standard error. With JSON an error is one JSON object there.',
      width,
    ),
    '\n',
    indentText('mergeq pr get 123 --json | jq -r .state', width),
    indentText('mergeq flaky list --since 7d -o ndjson | jq -r .name', width),
  ].join('')

/** Renders the topics of `mergeq help <topic>`, at a width in columns, from tables of the program itself. */
export const topics: Readonly<
  Record<Topic, (width: number, settings: readonly DocumentedSetting[]) => string>
> = {
  'exit-codes': renderExitCodes,
  environment: renderEnvironment,
  formatting: renderFormatting,
}
