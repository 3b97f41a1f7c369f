# bash completion for mergeq: asks mergeq what can be typed. `mergeq completion bash` prints this script.

_mergeq() {
  local IFS=$' \t\n' program=$1 line=${COMP_LINE:0:COMP_POINT} word='' index directive='' quoted='' width=0 type=${COMP_TYPE:-0}
  local -a words descriptions
  [[ $program == '~/'* ]] && program=${HOME-}/${program:2}
  type -P -- "$program" > /dev/null || program=mergeq
  COMPREPLY=() descriptions=()

  # The words as they were typed: bash also splits them at = and :.
  for ((index = 0; index <= COMP_CWORD; index++)); do
    word=${COMP_WORDS[index]-}
    if ((index == 0)) || [[ $line == [[:space:]]* || -z $line ]]; then
      words+=('')
      line=${line#"${line%%[![:space:]]*}"}
    fi
    [[ $line == "$word"* ]] || word=$line
    line=${line#"$word"}
    words[${#words[@]}-1]+=$word
  done
  # Readline replaces only the part of the current word after the last = or :.
  local current=${words[${#words[@]}-1]} part=${word#[=:]}
  local kept=${current%"$part"}
  [[ $part == *[\'\"]* ]] && quoted=1
  words=("${words[@]//[\'\"\\]/}")

  while IFS= read -r line; do
    if [[ $line == :* ]]; then directive=$line; continue; fi
    word=''
    [[ $line == *$'\t'* ]] && word=${line#*$'\t'}
    line=${line%%$'\t'*}
    line=${line#"$kept"}
    # Inside quotes the shell would read some characters otherwise: such words are omitted.
    if [[ -z $quoted ]]; then printf -v line %q "$line"
    elif [[ $line == *[^[:alnum:]\ _./:=@%+,-]* ]]; then continue
    fi
    COMPREPLY+=("$line")
    descriptions+=("$word")
  done < <(command "$program" __complete -- "${words[@]:1}" 2> /dev/null)

  # Descriptions, where bash lists the candidates and inserts at most what they have in common.
  if ((${#COMPREPLY[@]} > 1 && (type == 33 || type == 63 || type == 64))); then
    for line in "${COMPREPLY[@]}"; do ((${#line} > width)) && width=${#line}; done
    for ((index = 0; index < ${#COMPREPLY[@]}; index++)); do
      [[ -n ${descriptions[index]} ]] || continue
      printf -v line "%-${width}s  (%s)" "${COMPREPLY[index]}" "${descriptions[index]}"
      COMPREPLY[index]=${line:0:${COLUMNS:-80}-1}
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
