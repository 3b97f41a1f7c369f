import { prepareRequest } from '../api/call.ts'
import { curlCommand, previewRequest } from '../api/request.ts'
import type { ServiceRequest } from '../api/resolve.ts'
import { escapeInvisible, parseJson, stringifyJson } from '../json.ts'
import { columns, singleRecord } from '../output/view.ts'
import type { Cli } from './cli.ts'

/**
 * Prints what a command would change on this machine, for a `--dry-run` without requests
 * (docs/reference/cli.md, "Dry run"): `{"command","would"}` as JSON, the sentence `would` as text. Returns
 * exit code 0.
 */
export async function printPreview(
  would: string,
  { command, printer }: Pick<Cli, 'command' | 'printer'>,
): Promise<number> {
  await printer.print({
    ...singleRecord({ command, would }),
    columns: columns(['WOULD', 'would', 'prose']),
    screen: () => ({ sentence: would }),
  })
  return 0
}

/** What a request gives in a dry run in place of a response. */
export type Printed = 'printed'

/** Prints a request instead of sending it (docs/reference/cli.md, "Dry run"). */
export async function printRequest(
  { operation, values, overrides }: ServiceRequest,
  { client, host: { out } }: Pick<Cli, 'client' | 'host'>,
): Promise<Printed> {
  const request = await prepareRequest(client(), operation, values, { overrides })
  const { body, ...shown } = previewRequest(request)
  const document = { ...shown, ...(body === undefined ? {} : { body: parseJson(body) ?? null }) }
  await out.write(`${stringifyJson(document, out.terminal)}\n`)
  // The escapes in the body are JSON: the copied command sends the same characters.
  const shownBody = body === undefined ? {} : { body: escapeInvisible(body) }
  if (out.terminal) await out.write(`${curlCommand({ ...shown, ...shownBody })}\n`)
  return 'printed'
}

/**
 * Prints the requests that a command sends first, instead of all that follows from their responses. Returns exit
 * code 0.
 */
export async function printRequests(requests: readonly ServiceRequest[], cli: Cli): Promise<number> {
  for (const request of requests) await printRequest(request, cli)
  return 0
}

/** Returns the context of a command that prints a plan in a dry run: its client sends requests. */
export const withoutDryRun = (cli: Cli): Cli => ({
  ...cli,
  options: { ...cli.options, dryRun: false },
  client() {
    return { ...cli.client(), isDryRun: false }
  },
})
