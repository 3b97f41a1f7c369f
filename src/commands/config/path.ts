import { defineCommand } from '../../cli/command.ts'
import { storeFile } from '../../config/store.ts'

export const configPathCommand = defineCommand({
  command: 'config path',
  summary: 'Print the path of the settings file',
  output: 'the path',
  examples: ['mergeq config path'],
  async run(_, { settings, host }) {
    await host.out.write(`${storeFile({ settings })}\n`)
    return 0
  },
})
