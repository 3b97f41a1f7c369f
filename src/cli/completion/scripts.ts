import type { DocumentedCommand } from '../help/command-doc.ts'
import type { HelpGroup } from '../help/help-text.ts'
import type { OptionDefinition } from '../inputs.ts'
import { renderBashScript } from './bash.ts'
import { createCompletionSpec } from './completion-spec.ts'
import { renderFishScript } from './fish.ts'
import { renderPowershellScript } from './powershell.ts'
import type { Shell } from './shells.ts'
import { renderZshScript } from './zsh.ts'

const renderers = {
  bash: renderBashScript,
  zsh: renderZshScript,
  fish: renderFishScript,
  powershell: renderPowershellScript,
}

/** The path of each completion script in the package. */
export const completionScriptPaths: Readonly<Record<Shell, string>> = {
  bash: 'completions/mergeq.bash',
  zsh: 'completions/_mergeq',
  fish: 'completions/mergeq.fish',
  powershell: 'completions/mergeq.ps1',
}

/** Returns the completion script of a shell, which is the text of the file in `completionScriptPaths`. */
export const renderCompletionScript = (
  shell: Shell,
  groups: readonly HelpGroup[],
  commands: readonly DocumentedCommand[],
  globalOptions: readonly OptionDefinition[],
): string => renderers[shell](createCompletionSpec(groups, commands, globalOptions))
