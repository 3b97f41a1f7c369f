import { defineCommand } from '../../cli/command.ts'
import { readOrigin } from '../../cli/origin.ts'
import { emptyTokenNote, isTokenVariableEmpty, type Token } from '../../config/api-token.ts'
import type { JsonObject } from '../../json.ts'
import { keyValueTable } from '../../output/view.ts'

/** Returns the last four characters of a token, or nothing for a token of fewer than twelve characters. */
const formatTokenEnd = ({ value }: Token): string => (value.length < 12 ? '' : value.slice(-4))

const facts = [
  ['source', 'source'],
  ['origin', 'origin'],
  ['ends with', 'lastCharacters'],
] as const

/** `auth status`: shows the source, the origin and the last characters of the token that would be sent. */
export const authStatusCommand = defineCommand({
  command: 'auth status',
  summary: 'Show which token is used and where it is sent',
  exitKinds: ['auth'],
  output: {
    table: 'the source, the origin and the last characters of the token',
    json: '{"source","origin","lastCharacters"}',
    ndjson: 'the same, on one line',
  },
  fields: { names: ['source', 'origin', 'lastCharacters'], columns: facts },
  inputs: {},
  examples: ['mergeq auth status', 'mergeq auth status --json'],
  async run(_, context) {
    const origin = await readOrigin(context)
    const { env } = context.host
    if (isTokenVariableEmpty(env)) await context.logger.warn(emptyTokenNote)
    const token = await context.client().token()
    const record: JsonObject = { source: token.source, origin, lastCharacters: formatTokenEnd(token) }
    await context.printer.print({
      records: [record],
      document: ([first = {}]) => first,
      view: () => keyValueTable(record, facts),
    })
    await context.printer.end()
    return 0
  },
})
