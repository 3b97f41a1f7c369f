# bash completion for mergeq: asks mergeq what can be typed. `mergeq completion bash` prints this script.

_mergeq() {
  local IFS=$' \t\n' program=$1 line=${COMP_LINE:0:COMP_POINT} word='' index directive='' quoted=''
  local -a words
  [[ $program == '~/'* ]] && program=${HOME-}/${program:2}
  type -P -- "$program" > /dev/null || program=mergeq
  COMPREPLY=()

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
    line=${line%%$'\t'*}
    line=${line#"$kept"}
    # Inside quotes the shell would read some characters otherwise: such words are omitted.
    if [[ -z $quoted ]]; then printf -v line %q "$line"
    elif [[ $line == *[^[:alnum:]\ _./:=@%+,-]* ]]; then continue
    fi
    COMPREPLY+=("$line")
  done < <(command "$program" __complete -- "${words[@]:1}" 2> /dev/null)

  case $directive in
    :commands) while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -c -- "$part") ;;
    :nospace) compopt -o nospace 2> /dev/null ;;
    # Readline itself completes files, and quotes them; bash 3.2 cannot be asked to.
    :files) compopt -o filenames -o default 2> /dev/null ||
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$part") ;;
  esac
}

complete -F _mergeq mergeq
