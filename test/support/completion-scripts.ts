import type { Shell } from '../../src/cli/completion/shells.ts'

/** The path of each completion script in the repository. */
export const completionScriptPaths: Readonly<Record<Shell, string>> = {
  bash: 'completions/mergeq.bash',
  zsh: 'completions/_mergeq',
  fish: 'completions/mergeq.fish',
  powershell: 'completions/mergeq.ps1',
}
