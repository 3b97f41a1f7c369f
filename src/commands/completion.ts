import { shells } from '../cli/completion/shells.ts'
import type { DocumentationCommand } from '../cli/registered-command.ts'

/** `mergeq completion`: prints the completion script of a shell. */
export const completionCommand: DocumentationCommand = {
  command: 'completion',
  summary: 'Print the completion script of a shell',
  inputs: {},
  definitions: [{ name: 'shell', required: true, summary: `One of ${shells.join(', ')}`, choices: shells }],
  operations: [],
  documentation: 'completion',
  output: 'the script, which is also in the folder completions of the package',
  examples: [
    'source <(mergeq completion bash)',
    'mergeq completion zsh > "$HOME/.zfunc/_mergeq"',
    'mergeq completion fish > ~/.config/fish/completions/mergeq.fish',
    'mergeq completion powershell >> $PROFILE',
  ],
}
