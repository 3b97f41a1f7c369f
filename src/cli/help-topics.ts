import { settingDefinitions } from '../config/setting-definitions.ts'
import { type Format, outputFormats } from '../domain/output-formats.ts'
import { exitCodeList } from '../errors.ts'
import { alignColumns, indentText, wrapText } from './text-layout.ts'

export const otherVariables: readonly (readonly [names: string, description: string])[] = [
  ['MERGEQ_TOKEN', 'API token; an empty value counts as unset'],
  ['TRUNK_API_TOKEN', 'API token if MERGEQ_TOKEN is not set, for the default base URL only'],
  ['MERGEQ_GUARD', '`off` disables the `mergeq guard` pre-push hook'],
  ['MERGEQ_DEBUG', '`1` also prints the stack trace of an error on standard error'],
  ['MERGEQ_CONFIG_DIR', 'Configuration directory (default: depends on the platform)'],
  ['XDG_CONFIG_HOME, XDG_CACHE_HOME', 'Base directories for configuration (Linux, macOS) and cache (Linux)'],
  ['CI', 'If set, mergeq never prompts; repository, branch and pull request default to those of the CI job'],
  [
    'HTTPS_PROXY, NO_PROXY',
    'Proxy for HTTPS, and hosts to reach without it; the names can be in upper or lower case',
  ],
  ['NODE_EXTRA_CA_CERTS', 'File with additional certificate authorities, like --ca-file'],
  ['NODE_DISABLE_COMPILE_CACHE', 'If set, compiled code is not cached'],
  [
    'NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, TERM',
    'Color output, unless --color is given; TERM=dumb disables it',
  ],
  ['LC_ALL, LC_CTYPE, LANG', 'Character set of the terminal; without UTF-8, mergeq prints ASCII signs'],
]

export const listSettingVariables = (): readonly (readonly [names: string, description: string])[] =>
  Object.values(settingDefinitions)
    .filter(({ env }) => env.length > 0)
    .map(({ flag, env, summary, default: value, defaultText = value }) => {
      const option = flag === undefined ? '' : `${flag}: `
      const defaultNote = defaultText === undefined ? '' : ` (default: ${defaultText})`
      return [env.join(', '), `${option}${summary}${defaultNote}`]
    })

export const formatRows: readonly (readonly [name: Format, description: string])[] = outputFormats.map(
  ({ name, summary }) => [name, summary],
)

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
      'With several pull requests, mergeq exits with the most severe exit code. The help of each command lists its exit codes. If the program that reads the output exits early, mergeq stops without an error message and uses the exit code that it would otherwise have returned.',
      width,
    ),
  ].join('')

const renderEnvironment = (width: number): string =>
  [
    'Settings (an option takes precedence over its variable):\n\n',
    alignColumns(listSettingVariables(), width),
    '\nOther variables:\n\n',
    alignColumns(otherVariables, width),
    '\n',
    renderParagraph(
      'mergeq uses the first source that has a value: option, environment, project file, profile, CI job, git checkout, default. To see where each value comes from:',
      width,
    ),
    '\n',
    indentText('mergeq config list --show-origin', width),
  ].join('')

const renderFormatting = (width: number): string =>
  [
    'Output formats (--output, --json, MERGEQ_OUTPUT):\n\n',
    alignColumns(formatRows, width),
    '\n',
    renderParagraph(
      '--fields state,readiness.hasImpactedTargets prints only these fields, in every format. A name is a field of the record or a heading of the table, such as "rate 7d" or rate_7d. An unknown name is an error. To list the names that a command accepts, end the command with --fields.',
      width,
    ),
    '\n',
    renderParagraph(
      'Standard output contains results only; progress, warnings and errors go to standard error. With json and ndjson, an error is one JSON object.',
      width,
    ),
    '\n',
    indentText('mergeq pr get 123 --json | jq -r .state', width),
    indentText('mergeq pr get --fields', width),
    indentText('mergeq flaky list --since 7d -o ndjson | jq -r .name', width),
  ].join('')

/** The topics of `mergeq help <topic>`, each as text of a width in columns. */
export const topics = {
  'exit-codes': renderExitCodes,
  environment: renderEnvironment,
  formatting: renderFormatting,
}
