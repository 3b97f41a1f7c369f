// All generated files that are committed. `npm run generate` writes them; a test compares them.
import { readFileSync } from 'node:fs'
import { commandGroups } from '../../src/commands/index.ts'
import { allCommands } from '../../test/support/commands.ts'
import { mergeq } from '../../test/support/harness.ts'
import { type ProgramHelp, renderManPage } from './man-page.ts'
import { queueFileSchema, schemaPath } from './queue-file-schema.ts'
import {
  renderDocumentedCommands,
  renderGroups,
  renderShortExitCodeTable,
  replaceMarkedParts,
} from './readme-tables.ts'
import { referenceParts } from './reference-tables.ts'
import { drawReadmeSession } from './session-picture.ts'
import { renderTroubleshooting } from './troubleshooting.ts'

const help: ProgramHelp = JSON.parse((await mergeq('help --json')).out)

/** The generated parts of each page, by the path of the page and the name of the marker. */
export const markedParts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'README.md': {
    commands: renderDocumentedCommands(allCommands),
    groups: renderGroups(commandGroups, allCommands),
    'exit codes': renderShortExitCodeTable(),
  },
  ...referenceParts(help),
}

/** The function that returns the text of each generated file, by its path. */
export const generatedFiles: Readonly<Record<string, () => string | Promise<string>>> = {
  ...Object.fromEntries(
    Object.entries(markedParts).map(([path, parts]) => [
      path,
      () => replaceMarkedParts(readFileSync(path, 'utf8'), parts),
    ]),
  ),
  'docs/session.svg': drawReadmeSession,
  'docs/troubleshooting.md': renderTroubleshooting,
  'man/mergeq.1': () => renderManPage(help),
  [schemaPath]: () => `${JSON.stringify(queueFileSchema, null, 2)}\n`,
}
