# bash completion for mergeq
# Made from the command tree of mergeq; `mergeq completion` prints it.

_mergeq_place() {
  children='' flags=''
  case $1 in
    '') children='pr queue metrics flaky guard api auth config doctor sandbox completion help' flags='--version' ;;
    'pr') children='submit cancel restart get status targets testing wait explain' ;;
    'queue') children='create get update delete pause resume drain watch export diff apply check' ;;
    'flaky') children='list get report match gate' ;;
    'auth') children='login logout status token' ;;
    'config') children='list get set unset path' ;;
    'sandbox') children='start exec tour simulate' ;;
    'pr submit') flags='--stop-on-error --priority= --no-batch --wait --until= --interval= --grace= --match-head= --max-errors= --fail-on-paused --set=+' ;;
    'pr cancel') flags='--stop-on-error -y|--yes --set=+' ;;
    'pr restart') flags='--stop-on-error --set=+' ;;
    'pr get') flags='--stop-on-error --head= --exit-status --set=+' ;;
    'pr targets') flags='--sha=! --no-sha! --too-large= --forked-run= --from= --from-json= --all --none --set=+' ;;
    'pr testing') flags='--pr= --set=+' ;;
    'pr wait') flags='--stop-on-error --until= --interval= --grace= --match-head= --max-errors= --fail-on-paused --set=+' ;;
    'pr explain') flags='--set=+' ;;
    'queue create') flags='--mode= --concurrency= --set=+' ;;
    'queue get') flags='--set=+' ;;
    'queue update') flags='--state= --mode= --concurrency= --bisection-concurrency= --testing-timeout-minutes= --pending-failure-depth= --can-optimistically-merge! --no-can-optimistically-merge! --batch! --no-batch! --batching-min-size= --batching-max-wait-time-minutes= --create-prs-for-testing-branches! --no-create-prs-for-testing-branches! --comments-enabled! --no-comments-enabled! --commands-enabled! --no-commands-enabled! --status-check-enabled! --no-status-check-enabled! --direct-merge-mode= --optimization-mode= --merge-method= --required-status=+ --delete-required-statuses --extension-enabled! --no-extension-enabled! --label-commands-enabled! --no-label-commands-enabled! --state-labels-enabled! --no-state-labels-enabled! --enqueueing-label= --not-ready-timeout-hours= --test-branch-construction-mode= --set=+' ;;
    'queue delete') flags='-y|--yes --cancel-all --drain-first --set=+' ;;
    'queue pause') flags='--set=+' ;;
    'queue resume') flags='--set=+' ;;
    'queue drain') flags='--set=+' ;;
    'queue watch') flags='--once --interval= --for= --max-errors= --set=+' ;;
    'queue export') flags='-f|--file= --include-state --set=+' ;;
    'queue diff') flags='-f|--file= --include-state --allow-unknown --set=+' ;;
    'queue apply') flags='-f|--file= -y|--yes --if-match= --include-state --allow-unknown --set=+' ;;
    'queue check') flags='--max-depth= --stalled= --not-paused --set=+' ;;
    'metrics') flags='--all-repos' ;;
    'metrics check') flags='--all-repos' ;;
    'metrics watch') flags='--all-repos --once --interval= --for= --max-errors=' ;;
    'flaky list') flags='--since= --until= --start= --end= --limit= --page-size= --page-token= --max-pages= --owner= --quarantined! --no-quarantined! --min-failure-rate= --name= --path= --sort= --resume-file= --set=+' ;;
    'flaky get') flags='--set=+' ;;
    'flaky report') flags='--since= --until= --start= --end= --limit= --page-size= --page-token= --max-pages= --owner= --quarantined! --no-quarantined! --min-failure-rate= --name= --path= --sort= --format= --max-chars= --set=+' ;;
    'flaky match') flags='--since= --until= --start= --end= --page-size= --max-pages= --set=+' ;;
    'flaky gate') flags='--since= --until= --start= --end= --page-size= --max-pages= --owner= --quarantined! --no-quarantined! --min-failure-rate= --name= --path= --max= --baseline= --on-unavailable= --set=+' ;;
    'guard') flags='--install --uninstall --fail-closed' ;;
    'api') flags='-X|--method= -F|--field=+ --input= --include' ;;
    'auth login') flags='--with-token --no-verify' ;;
    'auth logout') ;;
    'auth status') ;;
    'auth token') ;;
    'config list') flags='--show-origin' ;;
    'config get') ;;
    'config set') ;;
    'config unset') ;;
    'config path') ;;
    'doctor') ;;
    'sandbox start') flags='--port= --speed= --seed= --scenario= --dialect= --queue=+' ;;
    'sandbox exec') flags='--port= --speed= --seed= --scenario= --dialect= --queue=+' ;;
    'sandbox tour') flags='--speed= --seed= --scenario= --dialect= --queue=+' ;;
    'sandbox simulate') flags='--prs-per-hour= --test-minutes= --failure-rate= --concurrency= --batch= --weeks= --seed= --from-metrics' ;;
    'completion') ;;
    'help') children='pr queue metrics flaky guard api auth config doctor sandbox completion help exit-codes environment formatting' ;;
    'help pr') children='submit cancel restart get status targets testing wait explain' ;;
    'help queue') children='create get update delete pause resume drain watch export diff apply check' ;;
    'help flaky') children='list get report match gate' ;;
    'help auth') children='login logout status token' ;;
    'help config') children='list get set unset path' ;;
    'help sandbox') children='start exec tour simulate' ;;
  esac
}

_mergeq_value() {
  case $1 in
    '--repo') _mergeq_stored repo ;;
    '--target-branch') _mergeq_stored target-branch ;;
    '--org') _mergeq_stored org ;;
    '--base-url') _mergeq_stored base-url ;;
    '--profile') _mergeq_stored profile ;;
    '--output') words='table json ndjson csv markdown' ;;
    '--ca-file') kind=file ;;
    '--color') words='auto always never' ;;
    'pr submit --priority') words='urgent high medium low' ;;
    'pr submit --until') words='merged tests-passed testing left' ;;
    'pr submit --interval') words='auto' ;;
    'pr submit --match-head') words='HEAD' ;;
    'pr targets --too-large') words='all fail' ;;
    'pr targets --from') kind=file ;;
    'pr targets --from-json') kind=file ;;
    'pr wait --until') words='merged tests-passed testing left' ;;
    'pr wait --interval') words='auto' ;;
    'pr wait --match-head') words='HEAD' ;;
    'queue create --mode') words='single parallel' ;;
    'queue update --state') words='running paused draining' ;;
    'queue update --mode') words='single parallel' ;;
    'queue update --direct-merge-mode') words='off always' ;;
    'queue update --optimization-mode') words='off bisection_skip_redundant_tests' ;;
    'queue update --merge-method') words='merge_commit squash rebase' ;;
    'queue update --test-branch-construction-mode') words='rename_temp_branch push_new_branch_from_temp' ;;
    'queue export --file') kind=file ;;
    'queue diff --file') kind=file ;;
    'queue apply --file') kind=file ;;
    'flaky list --sort') words='impact rate recent name' ;;
    'flaky list --resume-file') kind=file ;;
    'flaky report --sort') words='impact rate recent name' ;;
    'flaky report --format') words='markdown github json' ;;
    'flaky match #'*) kind=file ;;
    'flaky gate --baseline') kind=file ;;
    'flaky gate --on-unavailable') words='pass fail' ;;
    'api --method') words='get post' ;;
    'api --input') kind=file ;;
    'api #1') words='submitPullRequest cancelPullRequest restartTestsOnPullRequest getSubmittedPullRequest setImpactedTargets getMergeQueueTestingDetails createQueue getQueue updateQueue deleteQueue getMergeQueueMetrics flaky-tests/list-failing-tests flaky-tests/get-test-details' ;;
    'config get #1') words='repo target-branch org base-url output timeout retries color' ;;
    'config set #1') words='repo target-branch org base-url output timeout retries color' ;;
    'config unset #1') words='repo target-branch org base-url output timeout retries color' ;;
    'sandbox start --scenario') words='happy flaky failure cancelled batch-failure paused outage slow' kind=file ;;
    'sandbox start --dialect') words='document hosted' ;;
    'sandbox exec --scenario') words='happy flaky failure cancelled batch-failure paused outage slow' kind=file ;;
    'sandbox exec --dialect') words='document hosted' ;;
    'sandbox exec #'*) kind=program ;;
    'sandbox tour --scenario') words='happy flaky failure cancelled batch-failure paused outage slow' kind=file ;;
    'sandbox tour --dialect') words='document hosted' ;;
    'completion #1') words='bash zsh fish powershell' ;;
    *) return 1 ;;
  esac
}

# Profiles, or the values of a key in them, as mergeq itself writes them; names that a shell might read otherwise are left out.
_mergeq_stored() {
  local folder line inside='' lines=0 pattern
  if [[ ${MERGEQ_CONFIG_DIR-} == /* ]]; then folder=$MERGEQ_CONFIG_DIR
  elif [[ -n ${MERGEQ_CONFIG_DIR-} ]]; then return
  elif [[ ${OSTYPE-} == darwin* && ${HOME-} == /* ]]; then folder=$HOME/Library/Preferences/mergeq
  elif [[ ${XDG_CONFIG_HOME-} == /* ]]; then folder=$XDG_CONFIG_HOME/mergeq
  elif [[ ${HOME-} == /* ]]; then folder=$HOME/.config/mergeq
  else return
  fi
  [[ -f $folder/config.json && -r $folder/config.json ]] || return
  if [[ $1 == profile ]]; then pattern='^    "([A-Za-z0-9][A-Za-z0-9._@+-]*)": \{'
  else pattern='^      "'$1'": "([A-Za-z0-9][A-Za-z0-9._@+/:~-]*)",?$'
  fi
  while IFS= read -r -n 4096 line && ((lines++ < 1000)); do
    if [[ $line == '  "profiles": {' ]]; then inside=1
    elif [[ $line == '  }'* ]]; then inside=''
    elif [[ -n $inside && $line =~ $pattern ]]; then words+=" ${BASH_REMATCH[1]}"
    fi
  done < "$folder/config.json"
}

# Looks a flag up: $name, and $takes where it has a value.
_mergeq_flag() {
  local flag bare
  name='' takes=''
  for flag in $flags $globals; do
    bare=${flag%%[=+!]*}
    if [[ ${bare#*|} == "$1" || ${bare%|*} == "$1" ]]; then
      name=${bare#*|}
      if [[ $flag == *=* ]]; then takes=1; fi
      return
    fi
  done
}

_mergeq() {
  local IFS=$' \t\n' globals='-R|--repo= -b|--target-branch= --org= --base-url= --profile= -o|--output= --json --fields= --dry-run --timeout= --retries= --max-answer= --ca-file= -q|--quiet -v|--verbose --color= --no-input -h|--help'
  local children flags name takes words='' kind='' flag bare
  local path='' given=' ' wants='' rest='' count=0 prefix='' index
  local line=${COMP_LINE:0:COMP_POINT} piece='' full='' tail=''
  local -a typed
  COMPREPLY=()

  # Words as they were typed: bash also splits at = and :.
  for ((index = 0; index <= COMP_CWORD; index++)); do
    piece=${COMP_WORDS[index]-}
    if ((index > 0)) && [[ $line != [[:space:]]* && -n $line ]]; then
      full=${typed[${#typed[@]}-1]}
    else
      typed+=('') full=''
      line=${line#"${line%%[![:space:]]*}"}
    fi
    if [[ $line != "$piece"* ]]; then piece=$line; fi
    line=${line#"$piece"}
    typed[${#typed[@]}-1]=$full$piece
  done
  full=${typed[${#typed[@]}-1]}
  if [[ $piece == [=:] ]]; then tail=''; else tail=$piece; fi

  _mergeq_place ''
  for ((index = 1; index < ${#typed[@]} - 1; index++)); do
    piece=${typed[index]}
    if [[ -n $wants ]]; then wants=''
    elif [[ -z $rest && $piece == -- ]]; then rest=1
    elif [[ -z $rest && $piece == -?* ]]; then
      _mergeq_flag "${piece%%=*}"
      given+="$name "
      if [[ -n $takes && $piece != *=* ]]; then wants=$name; fi
    elif [[ -z $rest && $count -eq 0 && " $children " == *" $piece "* ]]; then
      path=${path:+$path }$piece
      case $path in
        'pr status') path='pr get' ;;
      esac
      _mergeq_place "$path"
    else count=$((count + 1))
    fi
  done

  local cur=$full
  if [[ -z $wants && -z $rest && $full == --*=* ]]; then
    _mergeq_flag "${full%%=*}"
    [[ -n $takes ]] || return
    wants=$name prefix=${full%%=*}= cur=${full#*=}
  fi
  if [[ -n $wants ]]; then _mergeq_value "$path $wants" || _mergeq_value "$wants"
  elif [[ -z $rest && $cur == -* ]]; then
    for flag in $flags $globals; do
      bare=${flag%%[=+!]*} bare=${bare#*|}
      if [[ $flag != *+* && $given == *" $bare "* ]]; then continue; fi
      if [[ $flag == *! ]]; then
        if [[ $bare == --no-* ]]; then name=--${bare#--no-}; else name=--no-${bare#--}; fi
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
      COMPREPLY+=("${piece#"${full%"$tail"}"}")
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
