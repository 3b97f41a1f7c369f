import { endings } from '../../errors.ts'
import type { Tree } from './help-text.ts'
import type { Page } from './command-doc.ts'
import { formatRows, otherVariables, type Setting } from './topics.ts'

/** A page as data, under the names of `mergeq help --json`. */
export const pageDocument = ({ examples, ...page }: Page) => ({
  ...page,
  examples: examples.map(({ line, exit }) => ({ line, exit })),
})

/** The whole tree as data: what `mergeq help --json` prints. */
export const treeDocument = (
  { summary, groups, flags }: Tree,
  pages: readonly Page[],
  settings: readonly Setting[],
) => ({
  name: 'mergeq',
  summary,
  groups: Object.entries(groups).map(([name, summary]) => ({ name, summary })),
  globalFlags: flags,
  commands: pages.map(pageDocument),
  environment: [
    ...settings
      .filter(({ env }) => env.length > 0)
      .map(({ env, flag, summary, fallback }) => ({ names: env, flag, summary, default: fallback })),
    ...otherVariables.map(([names, summary]) => ({ names: names.split(', '), summary })),
  ],
  formats: formatRows.map(([name, summary]) => ({ name, summary })),
  exitCodes: endings.map(({ code, kind, when }) => ({ code, kind, when })),
})
