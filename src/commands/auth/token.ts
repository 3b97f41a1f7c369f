import { defineCommand } from '../../cli/define-command.ts'

/** `auth token`: prints the token itself, the only output that is not redacted. */
export const authTokenCommand = defineCommand({
  command: 'auth token',
  summary: 'Print the API token in plain text',
  exitKinds: ['auth'],
  output: 'the token, in every format',
  examples: ['mergeq auth token | pbcopy'],
  async run(_, context) {
    await context.secrets.writeUnredacted(`${(await context.client().token()).value}\n`)
    return 0
  },
})
