import { exitCodeList } from '../../errors.ts'
import type { CommandDoc } from './command-doc.ts'
import type { ProgramDoc } from './help-text.ts'
import { type DocumentedSetting, formatRows, otherVariables } from './topics.ts'

/** Returns the documentation of a command as data: what `mergeq help --json <command>` prints. */
export const toCommandDocJson = ({ examples, ...doc }: CommandDoc) => ({
  ...doc,
  examples: examples.map(({ line, exit }) => ({ line, exit })),
})

/** Returns the documentation of a program and its commands as data: what `mergeq help --json` prints. */
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
  globalFlags: flags,
  commands: commands.map(toCommandDocJson),
  environment: [
    ...settings
      .filter(({ env }) => env.length > 0)
      .map(({ env, flag, summary, defaultValue }) => ({ names: env, flag, summary, default: defaultValue })),
    ...otherVariables.map(([names, summary]) => ({ names: names.split(', '), summary })),
  ],
  formats: formatRows.map(([name, summary]) => ({ name, summary })),
  exitCodes: exitCodeList.map(({ code, kind, when }) => ({ code, kind, when })),
})
