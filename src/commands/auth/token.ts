import { defineCommand } from '../../cli/command.ts'

/** `auth token`: prints the token itself, the only output that is not redacted. */
export const authTokenCommand = defineCommand({
  command: 'auth token',
  summary: 'Print the token itself: it will be visible where this is printed',
  exitKinds: ['auth'],
  output: 'the token and a newline, in every format',
  inputs: {},
  examples: ['mergeq auth token | pbcopy'],
  async run(_, context) {
    await context.secrets.reveal(`${(await context.client().token()).value}\n`)
    return 0
  },
})
