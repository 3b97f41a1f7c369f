import zsh from '../../completions/_mergeq'
import bash from '../../completions/mergeq.bash'
import fish from '../../completions/mergeq.fish'
import powershell from '../../completions/mergeq.ps1'
import { usageError } from '../base/errors.ts'
import { command } from '../command/command.ts'
import { argument } from '../command/inputs.ts'
import { hintWithSuggestion } from '../values/similar-name.ts'
import { textual } from '../values/types.ts'

/** The completion script of each shell. A script only asks `mergeq __complete` and shows its output. */
const completionScripts = { bash, zsh, fish, powershell }

const shells = Object.keys(completionScripts)

const scriptOfShell = textual({
  expected: `one of ${shells.join(', ')}`,
  placeholder: 'shell',
  choices: shells,
  parse(shell) {
    const script = new Map(Object.entries(completionScripts)).get(shell.toLowerCase())
    if (script !== undefined) return script
    throw usageError(
      `There is no completion script for '${shell}'.`,
      hintWithSuggestion(shell, shells, `Supported shells: ${shells.join(', ')}.`),
    )
  },
})

export const definition = command({
  name: 'completion',
  summary: 'Print a shell completion script',
  settings: 'not needed',
  options: {
    shell: argument(scriptOfShell, `Shell: ${shells.join(', ')}`),
  },
  prints: 'the script, which is also in the completions directory of the package',
  examples: [
    'source <(mergeq completion bash)',
    'mergeq completion zsh > "$HOME/.zfunc/_mergeq"',
    'mergeq completion fish > ~/.config/fish/completions/mergeq.fish',
    'mergeq completion powershell >> $PROFILE',
  ],
  async run({ shell: script }, { host }) {
    await host.out.write(script)
    return 0
  },
})
