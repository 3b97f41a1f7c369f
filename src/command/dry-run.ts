import { prepareRequest } from '../api/call.ts'
import { changeSentence } from '../api/change-sentence.ts'
import type { Operation } from '../api/operation.ts'
import { ownRecord } from '../api/operations/fields.ts'
import type { Params, ParamValues } from '../api/params.ts'
import { curlCommand, previewRequest } from '../api/request.ts'
import { escapeInvisible, parseJson, stringifyJson } from '../base/json.ts'
import type { Output } from '../host/host.ts'
import type { HttpRequest } from '../http/messages.ts'
import { columns, singleRecord } from '../output/view.ts'
import type { Cli } from './command.ts'

/** What a preview prints. */
export const previewRecord = ownRecord({ command: 'string', would: 'string' })

/** Prints what a command without requests would change (docs/reference/cli.md, "Dry run"). Returns exit code 0. */
export async function printPreview(
  would: string,
  { command, printer }: Pick<Cli, 'command' | 'printer'>,
): Promise<number> {
  await printer.print({
    ...singleRecord({ command, would }),
    columns: columns('would'),
    screen: () => ({ sentence: would }),
  })
  return 0
}

/** What a request gives in a dry run in place of a response. */
export type Printed = 'printed'

/** Whether a dry run says its changes, and does not print their requests. */
export const saysChanges = ({ options, results }: Pick<Cli, 'options' | 'results'>): boolean =>
  results === 'screen' && !options.verbose

/** Prints the first requests of a command, or says them to a person (docs/reference/cli.md, "Dry run"). Returns 0. */
export async function printRequests<P extends Params>(
  cli: Pick<Cli, 'client' | 'host' | 'options' | 'results'>,
  operation: Operation<P>,
  all: readonly ParamValues<P>[],
): Promise<number> {
  const { host } = cli
  const isSentence = saysChanges(cli) && operation.change?.sentence !== undefined
  for (const values of all) {
    const request = await prepareRequest(cli.client(), operation, values)
    const change = isSentence ? changeSentence(operation, values, 'before') : ''
    if (isSentence) await host.out.write(`Would ${change.charAt(0).toLowerCase()}${change.slice(1)}.\n`)
    else await printRequest(request, host.out)
  }
  return 0
}

async function printRequest(request: HttpRequest, out: Output): Promise<void> {
  const { body, ...shown } = previewRequest(request)
  const document = { ...shown, ...(body === undefined ? {} : { body: parseJson(body) ?? null }) }
  await out.write(`${stringifyJson(document, out.terminal)}\n`)
  // The escapes in the body are JSON: the copied command sends the same characters.
  if (out.terminal) await out.write(`${curlCommand({ ...shown, body: body && escapeInvisible(body) })}\n`)
}

/** Returns the context of a command that prints a plan in a dry run: its client sends requests. */
export const withoutDryRun = (cli: Cli): Cli => ({
  ...cli,
  options: { ...cli.options, dryRun: false },
  client() {
    return { ...cli.client(), isDryRun: false }
  },
})
