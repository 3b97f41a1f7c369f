import { buildRequest, curlCommand, previewRequest } from '../api/request.ts'
import { escapeInvisible, parseJson, stringifyJson } from '../json.ts'
import { withFallback } from '../methods/call.ts'
import { firstPage } from '../methods/list.ts'
import type { ServiceRequest } from '../methods/resolve.ts'
import { columns, singleRecord } from '../output/view.ts'
import type { Cli } from './cli.ts'

/**
 * Prints what a command would change on this machine, for a `--dry-run` without requests
 * (docs/reference/cli.md, "Dry run"): `{"command","would"}` as JSON, the sentence `would` as text. Returns
 * exit code 0.
 */
export async function printPreview(
  command: string,
  would: string,
  { printer }: Pick<Cli, 'printer'>,
): Promise<number> {
  await printer.print({
    ...singleRecord({ command, would }),
    columns: columns(['WOULD', 'would', 'prose']),
    screen: () => ({ sentence: would }),
  })
  return 0
}

/**
 * Prints requests without sending them (docs/reference/cli.md, "Dry run"), without confirmation and token.
 */
export async function printDryRun(requests: readonly ServiceRequest[], context: Cli): Promise<number> {
  const { out } = context.host
  const client = context.client()
  for (const { operation, values, overrides } of requests) {
    const list = operation.list?.(values, context.startedAt, client.nameOf)
    const sent = list === undefined ? { operation, values } : { ...list, values: firstPage(list) }
    const request = await withFallback(client, sent.operation, sent.values, fitting =>
      buildRequest(client, sent.operation, fitting, { overrides }),
    )
    const { body, ...shown } = previewRequest(request)
    const document = { ...shown, ...(body === undefined ? {} : { body: parseJson(body) ?? null }) }
    await out.write(`${stringifyJson(document, out.terminal)}\n`)
    // The escapes in the body are JSON: the copied command sends the same characters.
    const shownBody = body === undefined ? {} : { body: escapeInvisible(body) }
    if (out.terminal) await out.write(`${curlCommand({ ...shown, ...shownBody })}\n`)
  }
  return 0
}
