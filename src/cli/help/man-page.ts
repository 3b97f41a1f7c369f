import { exitCodeList } from '../../errors.ts'
import type { CommandDoc, OptionDoc } from './command-doc.ts'
import { type CommandTree, describeOption } from './help-text.ts'
import { wrapText } from './layout.ts'
import { type DocumentedSetting, formatRows, otherVariables, settingVariables } from './topics.ts'

const characters: Readonly<Record<string, string>> = {
  '\\': '\\e',
  '-': '\\-',
  '`': '\\(ga',
  "'": '\\(aq',
  '^': '\\(ha',
  '~': '\\(ti',
  '"': '\\(dq',
}

/** A text as roff takes it: nothing in it is a request or an escape. */
const plain = (text: string): string =>
  text.replace(/[\\\-`'^~"]/g, character => characters[character] ?? character).replace(/^\./, '\\&.')

/** Words between backquotes stand out. */
const prose = (text: string): string =>
  text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? plain(part) : bold(part)))
    .join('')

/** A paragraph in lines that an editor shows whole. */
const paragraph = (text: string): string =>
  wrapText(prose(text), 78)
    .map(line => line.replace(/^\./, '\\&.'))
    .join('\n')

const bold = (text: string): string => `\\fB${plain(text)}\\fR`
const italic = (text: string): string => `\\fI${plain(text)}\\fR`

const section = (title: string, ...lines: readonly string[]): readonly string[] => [`.SH ${title}`, ...lines]

/** A term and what it is, indented. */
const item = (term: string, text: string): readonly string[] => ['.TP', term, paragraph(text)]

const sentence = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`)

const signature = ({ name, short, value }: OptionDoc): string =>
  [
    [...(short === undefined ? [] : [bold(short)]), bold(name)].join(', '),
    ...(value === undefined ? [] : [italic(value.replace(/^<|>$/g, ''))]),
  ].join(' ')

const flagItem = (flag: OptionDoc): readonly string[] => item(signature(flag), sentence(describeOption(flag)))

function commandLines({
  usage,
  alias,
  summary,
  arguments: words,
  flags,
  sends,
  exitCodes,
  examples,
}: CommandDoc) {
  const facts = [
    sentence(summary),
    ...(alias === undefined ? [] : [`Also: \`mergeq ${alias}\`.`]),
    ...(sends.length === 0 ? [] : [`Sends: ${sends.join(', ')}.`]),
    exitCodes === undefined
      ? 'Exit status: that of the command that it runs.'
      : `Exit status: ${exitCodes.join(', ')}.`,
  ]
  return [
    `.SS ${plain(usage)}`,
    ...facts.map(paragraph),
    ...words.flatMap(({ name, summary }) => item(italic(name), sentence(summary))),
    ...flags.flatMap(flagItem),
    ...(examples.length === 0 ? [] : ['.PP', 'Examples:', '.PP', '.nf', '.RS']),
    ...examples.map(({ line }) => plain(line)),
    ...(examples.length === 0 ? [] : ['.RE', '.fi']),
  ]
}

/** The manual page, `mergeq.1`: the whole tree on one page. */
export function manPage(
  { summary, flags }: CommandTree,
  pages: readonly CommandDoc[],
  settings: readonly DocumentedSetting[],
): string {
  return `${[
    '.\\" Made from the command tree of mergeq by `npm run reference`.',
    '.TH MERGEQ 1 "" "mergeq" "mergeq manual"',
    ...section('NAME', `mergeq \\- ${plain(summary.replace(/^The/, 'the'))}`),
    ...section('SYNOPSIS', `${bold('mergeq')} ${italic('command')} [${italic('flags')}]`),
    ...section(
      'DESCRIPTION',
      paragraph(
        'Submits pull requests to a merge queue, waits for them, reads queues, metrics and failing tests, and ends with an exit status that can be trusted.',
      ),
      paragraph('`mergeq help` tells the same at the prompt, `mergeq help --json` as data.'),
    ),
    ...section('GLOBAL FLAGS', 'They may stand before or after the command.', ...flags.flatMap(flagItem)),
    ...section('COMMANDS', ...pages.flatMap(commandLines)),
    ...section('FORMATS', ...formatRows.flatMap(([name, what]) => item(bold(name), sentence(what)))),
    ...section(
      'ENVIRONMENT',
      ...[...settingVariables(settings), ...otherVariables].flatMap(([names, what]) =>
        item(bold(names), sentence(what)),
      ),
    ),
    ...section(
      'EXIT STATUS',
      ...exitCodeList.flatMap(({ code, kind, when }) =>
        item(bold(String(code)), sentence(`${kind}: ${when}`)),
      ),
    ),
  ].join('\n')}\n`
}
