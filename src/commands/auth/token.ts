import { command } from '../../command/command.ts'

/** `auth token`: prints the token itself, the only output that is not redacted. */
export const definition = command({
  name: 'auth token',
  summary: 'Print the API token in plain text',
  exits: ['auth'],
  prints: 'the token, in every format',
  examples: ['mergeq auth token | pbcopy'],
  async run(_, cli) {
    await cli.secrets.writeUnredacted(`${(await cli.client().token()).value}\n`)
    return 0
  },
})
