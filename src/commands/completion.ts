import type { DocumentationCommand } from '../cli/command.ts'
import { completionScripts } from '../cli/completion-scripts.ts'

const shells = Object.keys(completionScripts)

export const completionCommand: DocumentationCommand = {
  command: 'completion',
  summary: 'Print a shell completion script',
  definitions: [{ name: 'shell', required: true, summary: `Shell: ${shells.join(', ')}`, choices: shells }],
  operations: [],
  documentation: 'completion',
  output: 'the script, which is also in the completions directory of the package',
  examples: [
    'source <(mergeq completion bash)',
    'mergeq completion zsh > "$HOME/.zfunc/_mergeq"',
    'mergeq completion fish > ~/.config/fish/completions/mergeq.fish',
    'mergeq completion powershell >> $PROFILE',
  ],
}
