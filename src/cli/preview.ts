import type { CommandContext } from './context.ts'

/**
 * Prints what a command would do that changes this machine and not the service (CLI.md section 2): with `--json` as
 * `{"command","would"}`, else as the sentence. Returns the exit code 0.
 */
export async function printPreview(
  command: string,
  would: string,
  { printer }: Pick<CommandContext, 'printer'>,
): Promise<number> {
  await printer.print({
    records: [{ command, would }],
    document: ([one = {}]) => one,
    shape: () => ({ columns: [{ title: 'WOULD', format: 'prose' }], rows: [[would]], sentence: would }),
  })
  await printer.end()
  return 0
}
