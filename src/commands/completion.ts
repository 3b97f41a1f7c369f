import { command } from '../cli/command.ts'
import { argument } from '../cli/inputs.ts'
import { hintWithSuggestion } from '../domain/similar-name.ts'
import { textual } from '../domain/values/types.ts'
import { usageError } from '../errors.ts'

const bash = `# bash completion for mergeq: asks mergeq what can be typed. \`mergeq completion bash\` prints this script.

_mergeq() {
  local IFS=$' \\t\\n' program=$1 line=\${COMP_LINE:0:COMP_POINT} word='' index directive='' quoted='' width=0 type=\${COMP_TYPE:-0}
  local -a words descriptions
  [[ $program == '~/'* ]] && program=\${HOME-}/\${program:2}
  type -P -- "$program" > /dev/null || program=mergeq
  COMPREPLY=() descriptions=()

  # The words as they were typed: bash also splits them at = and :.
  for ((index = 0; index <= COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]-}
    if ((index == 0)) || [[ $line == [[:space:]]* || -z $line ]]; then
      words+=('')
      line=\${line#"\${line%%[![:space:]]*}"}
    fi
    [[ $line == "$word"* ]] || word=$line
    line=\${line#"$word"}
    words[\${#words[@]}-1]+=$word
  done
  # Readline replaces only the part of the current word after the last = or :.
  local current=\${words[\${#words[@]}-1]} part=\${word#[=:]}
  local kept=\${current%"$part"}
  [[ $part == *[\\'\\"]* ]] && quoted=1
  words=("\${words[@]//[\\'\\"\\\\]/}")

  while IFS= read -r line; do
    if [[ $line == :* ]]; then directive=$line; continue; fi
    word=''
    [[ $line == *$'\\t'* ]] && word=\${line#*$'\\t'}
    line=\${line%%$'\\t'*}
    line=\${line#"$kept"}
    # Inside quotes the shell would read some characters otherwise: such words are omitted.
    if [[ -z $quoted ]]; then printf -v line %q "$line"
    elif [[ $line == *[^[:alnum:]\\ _./:=@%+,-]* ]]; then continue
    fi
    COMPREPLY+=("$line")
    descriptions+=("$word")
  done < <(command "$program" __complete -- "\${words[@]:1}" 2> /dev/null)

  # Descriptions, where bash lists the candidates and inserts at most what they have in common.
  if ((\${#COMPREPLY[@]} > 1 && (type == 33 || type == 63 || type == 64))); then
    for line in "\${COMPREPLY[@]}"; do ((\${#line} > width)) && width=\${#line}; done
    for ((index = 0; index < \${#COMPREPLY[@]}; index++)); do
      [[ -n \${descriptions[index]} ]] || continue
      printf -v line "%-\${width}s  (%s)" "\${COMPREPLY[index]}" "\${descriptions[index]}"
      COMPREPLY[index]=\${line:0:\${COLUMNS:-80}-1}
    done
  fi

  case $directive in
    :commands) while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -c -- "$part") ;;
    # Readline itself completes files, and quotes them; bash 3.2 cannot be asked to.
    :files) compopt -o filenames -o default 2> /dev/null ||
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$part") ;;
  esac
}

complete -F _mergeq mergeq
`

const zsh = `#compdef mergeq
# zsh completion for mergeq: asks mergeq what can be typed. \`mergeq completion zsh\` prints this script.

_mergeq() {
  local program=\${(Q)words[1]} line value directive code=1
  local -a lines candidates
  [[ $program == '~/'* ]] && program=\${HOME-}/\${program[3,-1]}
  [[ $program != */* && -n \${commands[$program]} || -x $program ]] || program=mergeq
  lines=("\${(@f)$(command $program __complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2> /dev/null)}")
  directive=$lines[-1]
  for line in $lines[1,-2]; do
    # _describe separates a value from its description at the first colon that has no backslash.
    value=\${\${\${line%%$'\\t'*}//\\\\/\\\\\\\\}//:/\\\\:}
    if [[ $line == *$'\\t'* ]]; then candidates+=("$value:\${line#*$'\\t'}"); else candidates+=("$value"); fi
  done
  (( $#candidates )) && _describe mergeq candidates && code=0
  [[ $PREFIX == --*=* ]] && compset -P '*='
  case $directive in
    :files) _files && code=0 ;;
    :commands) _command_names -e && code=0 ;;
  esac
  return code
}

if [[ $funcstack[1] == _mergeq ]]; then _mergeq "$@"; else compdef _mergeq mergeq; fi
`

const fish = `# fish completion for mergeq: asks mergeq what can be typed. \`mergeq completion fish\` prints this script.

function __mergeq_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    command -q -- "$program"; or set program mergeq
    command -q -- "$program"; or return
    set -l lines (command $program __complete -- $words[2..] (string unescape -- "$current"; or echo "$current") 2>/dev/null)
    test (count $lines) -gt 0; or return
    test (count $lines) -gt 1; and printf '%s\\n' $lines[1..-2]
    # fish matches the whole word, so the names of files after --option= get the part before them again.
    set -l prefix (string match -r -- '^--[^=]*=' "$current")
    switch $lines[-1]
        case :files
            set -l files (complete -C "'' "(string replace -- "$prefix" '' "$current"))
            test (count $files) -gt 0; and printf '%s\\n' "$prefix"$files
        case :commands
            __fish_complete_command
    end
end

complete -c mergeq -e
complete -c mergeq -f -a '(__mergeq_complete)'
`

const powershell = `# PowerShell completion for mergeq: asks mergeq what can be typed. \`mergeq completion powershell\` prints this script.

Register-ArgumentCompleter -Native -CommandName mergeq -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $typed = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object {
        if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text }
    })
    $program = if (Get-Command $typed[0] -CommandType @('Application', 'ExternalScript') -ErrorAction Ignore) { $typed[0] } else { 'mergeq' }
    $words = @($typed | Select-Object -Skip 1)
    # Not every version of PowerShell passes on an empty word: mergeq reads two quotes as an empty word.
    $current = if ($wordToComplete) { $wordToComplete } else { '""' }
    $lines = @(try { & $program __complete '--' @words $current 2>$null } catch { })

    # Where nothing is returned, PowerShell completes files.
    if ($lines.Count -lt 2 -and $lines[-1] -notin ':files', ':commands') { return '' }
    foreach ($line in $lines | Select-Object -SkipLast 1) {
        $value, $description = $line.Split("\`t", 2)
        if (-not $description) { $description = $value }
        $text = if ($value -match '[^\\w./:=+-]') { '''' + $value.Replace('''', '''''') + '''' } else { $value }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $description)
    }
}
`

/** The completion script of each shell. A script only asks `mergeq __complete` and shows its output. */
export const completionScripts = { bash, zsh, fish, powershell }

const shells = Object.keys(completionScripts)

/** The name of a shell, read as its script. */
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

export const completionCommand = command({
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
