import type { Shell } from '../help/builtin-commands.ts'
import type { DocumentedCommand } from '../help/command-doc.ts'
import type { OptionDefinition } from '../inputs.ts'
import { bashScript } from './bash.ts'
import { completionSpec } from './completion-spec.ts'
import { fishScript } from './fish.ts'
import { powershellScript } from './powershell.ts'
import { zshScript } from './zsh.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript, powershell: powershellScript }

/** Where each script lies in the package. */
export const scriptFiles: Readonly<Record<Shell, string>> = {
  bash: 'completions/mergeq.bash',
  zsh: 'completions/_mergeq',
  fish: 'completions/mergeq.fish',
  powershell: 'completions/mergeq.ps1',
}

/** The completion script of a shell, the same in the package's folder and from `mergeq completion`. */
export const scriptOf = (
  shell: Shell,
  leaves: readonly DocumentedCommand[],
  globalWords: readonly OptionDefinition[],
): string => scripts[shell](completionSpec(leaves, globalWords))
