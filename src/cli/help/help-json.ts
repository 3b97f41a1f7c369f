import { exitCodeList } from '../../errors.ts'
import type { CommandDoc } from './command-doc.ts'
import type { CommandTree } from './help-text.ts'
import { type DocumentedSetting, formatRows, otherVariables } from './topics.ts'

/** A page as data, under the names of `mergeq help --json`. */
export const commandDocJson = ({ examples, ...page }: CommandDoc) => ({
  ...page,
  examples: examples.map(({ line, exit }) => ({ line, exit })),
})

/** The whole tree as data: what `mergeq help --json` prints. */
export const commandTreeJson = (
  { summary, groups, flags }: CommandTree,
  pages: readonly CommandDoc[],
  settings: readonly DocumentedSetting[],
) => ({
  name: 'mergeq',
  summary,
  groups: Object.entries(groups).map(([name, summary]) => ({ name, summary })),
  globalFlags: flags,
  commands: pages.map(commandDocJson),
  environment: [
    ...settings
      .filter(({ env }) => env.length > 0)
      .map(({ env, flag, summary, defaultValue }) => ({ names: env, flag, summary, default: defaultValue })),
    ...otherVariables.map(([names, summary]) => ({ names: names.split(', '), summary })),
  ],
  formats: formatRows.map(([name, summary]) => ({ name, summary })),
  exitCodes: exitCodeList.map(({ code, kind, when }) => ({ code, kind, when })),
})
