import { exitCodeList } from '../../errors.ts'
import type { CommandDoc, OptionDoc } from './command-doc.ts'
import { formatPlaceholder, type ProgramDoc } from './help-text.ts'
import { type DocumentedSetting, formatRows, otherVariables } from './topics.ts'

const toOptionDocJson = (doc: OptionDoc) =>
  doc.value === undefined ? doc : { ...doc, value: formatPlaceholder(doc.value) }

export const toCommandDocJson = ({ examples, ...doc }: CommandDoc) => ({
  ...doc,
  flags: doc.flags.map(toOptionDocJson),
  examples: examples.map(({ line, exit }) => ({ line, exit })),
})

export const toProgramDocJson = (
  { summary, groups, flags }: ProgramDoc,
  commands: readonly CommandDoc[],
  settings: readonly DocumentedSetting[],
) => ({
  name: 'mergeq',
  summary,
  groups: groups
    .filter(({ isCommand }) => isCommand !== true)
    .map(({ name, summary }) => ({ name, summary })),
  globalFlags: flags.map(toOptionDocJson),
  commands: commands.map(toCommandDocJson),
  environment: [
    ...settings
      .filter(({ env }) => env.length > 0)
      .map(({ env, flag, summary, default: value, defaultText }) => ({
        names: env,
        flag,
        summary,
        default: value ?? defaultText,
      })),
    ...otherVariables.map(([names, summary]) => ({ names: names.split(', '), summary })),
  ],
  formats: formatRows.map(([name, summary]) => ({ name, summary })),
  exitCodes: exitCodeList.map(({ code, kind, when }) => ({ code, kind, when })),
})
