import { defineCommand } from '../../cli/command.ts'
import { storeFile } from '../../config/store.ts'

/** `config path`: prints the path of the file that stores the settings. */
export const configPathCommand = defineCommand({
  command: 'config path',
  summary: 'Print the file that settings are stored in',
  output: 'the path and a newline',
  inputs: {},
  examples: ['mergeq config path'],
  async run(_, { settings, host }) {
    await host.out.write(`${storeFile({ settings })}\n`)
    return 0
  },
})
