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

const quoteWords = (words: readonly string[]): string => shellQuote(words.join(' '))

/** Returns the statements that offer the completions of a value. */
function renderValue({ words, file, program, stored }: CompletionValue): string {
  return [
    ...(words.length === 0 ? [] : [`words=${quoteWords(words)}`]),
    ...(file ? ['kind=file'] : []),
    ...(program ? ['kind=program'] : []),
    ...(stored === undefined ? [] : [`_mergeq_stored ${stored}`]),
  ].join(' ')
}

/** Returns the completion script for bash 3.2 and later, which needs no package and starts no process. */
export function renderBashScript(spec: CompletionSpec): string {
  const { nodes, aliases, globalOptions } = spec
  return `# bash completion for mergeq
# ${generatedNote}

_mergeq_place() {
  children='' flags=''
  case $1 in
${nodes
  .map(({ path, children, options }) =>
    [
      `    ${shellQuote(path)})`,
      ...(children.length === 0 ? [] : [`children=${quoteWords(children.map(([name]) => name))}`]),
      ...(options.length === 0 ? [] : [`flags=${quoteWords(options.map(toOptionToken))}`]),
      ';;',
    ].join(' '),
  )
  .join('\n')}
  esac
}

${renderValueFunction(spec, renderValue)}

# Profiles, or the values of a key in them, as mergeq itself writes them; names that a shell might read otherwise are left out.
_mergeq_stored() {
  local folder line inside='' lines=0 pattern
  if [[ \${MERGEQ_CONFIG_DIR-} == /* ]]; then folder=$MERGEQ_CONFIG_DIR
  elif [[ -n \${MERGEQ_CONFIG_DIR-} ]]; then return
  elif [[ \${OSTYPE-} == darwin* && \${HOME-} == /* ]]; then folder=$HOME/Library/Preferences/mergeq
  elif [[ \${XDG_CONFIG_HOME-} == /* ]]; then folder=$XDG_CONFIG_HOME/mergeq
  elif [[ \${HOME-} == /* ]]; then folder=$HOME/.config/mergeq
  else return
  fi
  [[ -f $folder/config.json && -r $folder/config.json ]] || return
  if [[ $1 == profile ]]; then pattern='^    "(${safeName})": \\{'
  else pattern='^      "'$1'": "(${safeValue})",?$'
  fi
  while IFS= read -r -n 4096 line && ((lines++ < 1000)); do
    if [[ $line == '  "profiles": {' ]]; then inside=1
    elif [[ $line == '  }'* ]]; then inside=''
    elif [[ -n $inside && $line =~ $pattern ]]; then words+=" \${BASH_REMATCH[1]}"
    fi
  done < "$folder/config.json"
}

# Looks a flag up: $name, and $takes where it has a value.
_mergeq_flag() {
  local flag bare
  name='' takes=''
  for flag in $flags $globals; do
    bare=\${flag%%[=+!]*}
    if [[ \${bare#*|} == "$1" || \${bare%|*} == "$1" ]]; then
      name=\${bare#*|}
      if [[ $flag == *=* ]]; then takes=1; fi
      return
    fi
  done
}

_mergeq() {
  local IFS=$' \\t\\n' globals=${quoteWords(globalOptions.map(toOptionToken))}
  local children flags name takes words='' kind='' flag bare
  local path='' given=' ' wants='' rest='' count=0 prefix='' index
  local line=\${COMP_LINE:0:COMP_POINT} piece='' full='' tail=''
  local -a typed
  COMPREPLY=()

  # Words as they were typed: bash also splits at = and :.
  for ((index = 0; index <= COMP_CWORD; index++)); do
    piece=\${COMP_WORDS[index]-}
    if ((index > 0)) && [[ $line != [[:space:]]* && -n $line ]]; then
      full=\${typed[\${#typed[@]}-1]}
    else
      typed+=('') full=''
      line=\${line#"\${line%%[![:space:]]*}"}
    fi
    if [[ $line != "$piece"* ]]; then piece=$line; fi
    line=\${line#"$piece"}
    typed[\${#typed[@]}-1]=$full$piece
  done
  full=\${typed[\${#typed[@]}-1]}
  if [[ $piece == [=:] ]]; then tail=''; else tail=$piece; fi

  _mergeq_place ''
  for ((index = 1; index < \${#typed[@]} - 1; index++)); do
    piece=\${typed[index]}
    if [[ -n $wants ]]; then wants=''
    elif [[ -z $rest && $piece == -- ]]; then rest=1
    elif [[ -z $rest && $piece == -?* ]]; then
      _mergeq_flag "\${piece%%=*}"
      given+="$name "
      if [[ -n $takes && $piece != *=* ]]; then wants=$name; fi
    elif [[ -z $rest && $count -eq 0 && " $children " == *" $piece "* ]]; then
      path=\${path:+$path }$piece
      case $path in
${aliases.map(([alias, path]) => `        ${shellQuote(alias)}) path=${shellQuote(path)} ;;`).join('\n')}
      esac
      _mergeq_place "$path"
    else count=$((count + 1))
    fi
  done

  local cur=$full
  if [[ -z $wants && -z $rest && $full == --*=* ]]; then
    _mergeq_flag "\${full%%=*}"
    [[ -n $takes ]] || return
    wants=$name prefix=\${full%%=*}= cur=\${full#*=}
  fi
  if [[ -n $wants ]]; then _mergeq_value "$path $wants" || _mergeq_value "$wants"
  elif [[ -z $rest && $cur == -* ]]; then
    for flag in $flags $globals; do
      bare=\${flag%%[=+!]*} bare=\${bare#*|}
      if [[ $flag != *+* && $given == *" $bare "* ]]; then continue; fi
      if [[ $flag == *! ]]; then
        if [[ $bare == --no-* ]]; then name=--\${bare#--no-}; else name=--no-\${bare#--}; fi
        if [[ $given == *" $name "* ]]; then continue; fi
      fi
      words+=" $bare"
    done
  elif [[ -z $rest && $count -eq 0 && -n $children ]]; then words=$children
  else
    _mergeq_value "$path #$((count + 1))"
    if [[ $kind == program && $count -gt 0 ]]; then kind=file; fi
  fi

  for piece in $words; do
    if [[ $piece == "$cur"* ]]; then
      piece=$prefix$piece
      COMPREPLY+=("\${piece#"\${full%"$tail"}"}")
    fi
  done
  if [[ $kind == program ]]; then
    while IFS= read -r piece; do COMPREPLY+=("$piece"); done < <(compgen -c -- "$cur")
  elif [[ $kind == file ]]; then
    # Inside a completion readline itself completes files, and quotes them as they need; bash 3.2 cannot be asked to.
    if ! compopt -o filenames -o default 2> /dev/null; then
      while IFS= read -r piece; do COMPREPLY+=("$piece"); done < <(compgen -f -- "$tail")
    fi
  fi
}

complete -F _mergeq mergeq
`
}
