import { shellQuote } from '../../domain/shell-quote.ts'
import {
  type CompletionSpec,
  type CompletionValue,
  generatedNote,
  safeName,
  safeValue,
  toOptionToken,
} from './completion-spec.ts'
import { renderValueFunction } from './posix.ts'

/** Returns an array of `name:summary`. */
const renderEntries = (entries: readonly (readonly [string, string])[]): string =>
  `(${entries.map(([name, summary]) => shellQuote(`${name}:${summary}`)).join(' ')})`

/** Returns the statements that offer the completions of a value. */
const renderValue = ({ words, file, program, stored }: CompletionValue): string =>
  [
    ...(words.length === 0 ? [] : [`values=(${words.map(shellQuote).join(' ')})`]),
    ...(file ? ['kind=file'] : []),
    ...(program ? ['kind=program'] : []),
    ...(stored === undefined ? [] : [`_mergeq_stored ${stored}`]),
  ].join('; ')

/** Returns the completion script for zsh, for a folder of `fpath` or for `source` after `compinit`. */
export function renderZshScript(spec: CompletionSpec): string {
  const { nodes, aliases, globalOptions } = spec
  return `#compdef mergeq
# zsh completion for mergeq
# ${generatedNote}

_mergeq_place() {
  children=() flags=()
  case $1 in
${nodes
  .map(({ path, children, options }) =>
    [
      `    ${shellQuote(path)})`,
      ...(children.length === 0 ? [] : [`children=${renderEntries(children)}`]),
      ...(options.length === 0
        ? []
        : [`flags=${renderEntries(options.map(option => [toOptionToken(option), option.summary]))}`]),
      ';;',
    ].join(' '),
  )
  .join('\n')}
  esac
}

${renderValueFunction(spec, renderValue)}

# Profiles, or the values of a key in them, as mergeq itself writes them; names that a shell might read otherwise are left out.
_mergeq_stored() {
  local folder line inside pattern
  local -a file
  if [[ \${MERGEQ_CONFIG_DIR-} == /* ]]; then folder=$MERGEQ_CONFIG_DIR
  elif [[ -n \${MERGEQ_CONFIG_DIR-} ]]; then return
  elif [[ $OSTYPE == darwin* && \${HOME-} == /* ]]; then folder=$HOME/Library/Preferences/mergeq
  elif [[ \${XDG_CONFIG_HOME-} == /* ]]; then folder=$XDG_CONFIG_HOME/mergeq
  elif [[ \${HOME-} == /* ]]; then folder=$HOME/.config/mergeq
  else return
  fi
  # A plain file of less than 64 KB.
  file=("$folder"/config.json(N-.Lk-64))
  (( $#file )) || return
  if [[ $1 == profile ]]; then pattern='^    "(${safeName})": \\{'
  else pattern='^      "'$1'": "(${safeValue})",?$'
  fi
  while IFS= read -r line; do
    if [[ $line == '  "profiles": {' ]]; then inside=1
    elif [[ $line == '  }'* ]]; then inside=
    elif [[ -n $inside && $line =~ $pattern ]]; then values+=("$match[1]")
    fi
  done < $file[1]
}

# Looks a flag up: $name, and $takes where it has a value.
_mergeq_flag() {
  local flag bare
  name= takes=
  for flag in $flags $globals; do
    flag=\${flag%%:*} bare=\${\${flag%%:*}%%[=+!]*}
    if [[ \${bare#*\\|} == "$1" || \${bare%\\|*} == "$1" ]]; then
      name=\${bare#*\\|}
      [[ $flag != *=* ]] || takes=1
      return
    fi
  done
}

_mergeq() {
  emulate -L zsh
  setopt extended_glob
  local -a globals children flags values given offered match mbegin mend
  local name takes kind flag bare word opposite place= wants= rest= count=0 index
  globals=${renderEntries(globalOptions.map(option => [toOptionToken(option), option.summary]))}

  _mergeq_place ''
  for ((index = 2; index < CURRENT; index++)); do
    word=$words[index]
    if [[ -n $wants ]]; then wants=
    elif [[ -z $rest && $word == -- ]]; then rest=1
    elif [[ -z $rest && $word == -?* ]]; then
      _mergeq_flag "\${word%%=*}"
      given+=("$name")
      if [[ -n $takes && $word != *=* ]]; then wants=$name; fi
    elif [[ -z $rest && $count -eq 0 && -n "\${(@M)children:#\${(b)word}:*}" ]]; then
      place=\${place:+$place }$word
      case $place in
${aliases.map(([alias, path]) => `        ${shellQuote(alias)}) place=${shellQuote(path)} ;;`).join('\n')}
      esac
      _mergeq_place "$place"
    else (( count++ ))
    fi
  done

  if [[ -z $wants && -z $rest && $PREFIX == --*=* ]]; then
    _mergeq_flag "\${PREFIX%%=*}"
    [[ -n $takes ]] || return 1
    wants=$name
    compset -P '*='
  fi
  if [[ -n $wants ]]; then _mergeq_value "$place $wants" || _mergeq_value "$wants"
  elif [[ -z $rest && $PREFIX == -* ]]; then
    for flag in $flags $globals; do
      word=\${flag%%:*} bare=\${\${flag%%:*}%%[=+!]*}
      bare=\${bare#*\\|}
      [[ $word == *+* ]] || (( ! $given[(Ie)$bare] )) || continue
      if [[ $word == *! ]]; then
        if [[ $bare == --no-* ]]; then opposite=--\${bare#--no-}; else opposite=--no-\${bare#--}; fi
        (( ! $given[(Ie)$opposite] )) || continue
      fi
      offered+=("$bare:\${flag#*:}")
    done
    _describe -o 'flag' offered
    return
  elif [[ -z $rest && $count -eq 0 && $#children -gt 0 ]]; then
    _describe 'command' children
    return
  else
    _mergeq_value "$place #$((count + 1))"
    [[ $kind == program && $count -gt 0 ]] && kind=file
  fi
  local code=1
  if (( $#values )); then compadd -a values && code=0; fi
  if [[ $kind == file ]]; then _files && code=0; fi
  if [[ $kind == program ]]; then _command_names -e && code=0; fi
  return code
}

if [[ $funcstack[1] == _mergeq ]]; then _mergeq "$@"; else compdef _mergeq mergeq; fi
`
}
