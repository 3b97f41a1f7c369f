import { singleRecord } from '../output/printer.ts'
import type { CommandContext } from './context.ts'

/**
 * Prints what a command would change on this machine, for a `--dry-run` that concerns no request (CLI.md
 * section 2): `{"command","would"}` as JSON, the sentence `would` as text. Returns exit code 0.
 */
export async function printPreview(
  command: string,
  would: string,
  { printer }: Pick<CommandContext, 'printer'>,
): Promise<number> {
  await printer.print(
    singleRecord({ command, would }, () => ({
      columns: [{ title: 'WOULD', format: 'prose' }],
      rows: [[would]],
      sentence: would,
    })),
  )
  await printer.end()
  return 0
}
