import { command } from '../../command/command.ts'
import { storeFile } from '../../config/store.ts'

export const definition = command({
  name: 'config path',
  summary: 'Print the path of the settings file',
  prints: 'the path',
  settings: 'optional',
  examples: ['mergeq config path'],
  async run(_, cli) {
    await cli.host.out.write(`${storeFile(cli)}\n`)
    return 0
  },
})
