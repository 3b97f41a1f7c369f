import zsh from '../../completions/_mergeq'
import bash from '../../completions/mergeq.bash'
import fish from '../../completions/mergeq.fish'
import powershell from '../../completions/mergeq.ps1'
import { command } from '../command/command.ts'
import { argument } from '../command/inputs.ts'
import { choice } from '../values/types.ts'

/** The completion script of each shell. A script only asks `mergeq __complete` and shows its output. */
const completionScripts = { bash, zsh, fish, powershell }

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const

export const definition = command({
  name: 'completion',
  summary: 'Print a shell completion script',
  settings: 'not needed',
  options: {
    shell: argument(choice(shells, 'shell'), `Shell: ${shells.join(', ')}`),
  },
  prints: 'the script, which is also in the completions directory of the package',
  examples: [
    'source <(mergeq completion bash)',
    'mergeq completion zsh > "$HOME/.zfunc/_mergeq"',
    'mergeq completion fish > ~/.config/fish/completions/mergeq.fish',
    'mergeq completion powershell >> $PROFILE',
  ],
  async run({ shell }, { host }) {
    await host.out.write(completionScripts[shell])
    return 0
  },
})
