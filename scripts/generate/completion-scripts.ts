import { completionScripts } from '../../src/commands/completion.ts'

type Shell = keyof typeof completionScripts

export const shells = Object.keys(completionScripts) as Shell[]

/** The path of each completion script in the repository. */
export const completionScriptPaths: Readonly<Record<Shell, string>> = {
  bash: 'completions/mergeq.bash',
  zsh: 'completions/_mergeq',
  fish: 'completions/mergeq.fish',
  powershell: 'completions/mergeq.ps1',
}
