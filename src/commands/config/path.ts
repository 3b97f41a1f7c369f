import { defineCommand } from '../../cli/define-command.ts'
import { storeFile } from '../../config/store.ts'

export const configPathCommand = defineCommand({
  command: 'config path',
  summary: 'Print the path of the settings file',
  output: 'the path',
  examples: ['mergeq config path'],
  async run(_, context) {
    await context.host.out.write(`${storeFile(context)}\n`)
    return 0
  },
})
