#!/usr/bin/env bash
# incident.sh <command...>
# Runs a command while all queues are idle, and restores their states whatever happens. Needs jq.
set -euo pipefail
record=$(mktemp -d)/states.json

# Runs a command of mergeq, and again after exit code 7 (a queue could not be reached), for 30 minutes at most.
again() {
  local code end
  end=$(($(date +%s) + 1800))
  while :; do
    code=0
    "$@" || code=$?
    if [ "$code" -ne 7 ] || [ "$(date +%s)" -ge "$end" ]; then return "$code"; fi
    sleep 30
  done
}

restore() {
  if [ -e "$record" ]; then again mergeq queue resume --from "$record" --yes; fi
}
trap restore EXIT
again mergeq queue pause --all --record "$record" --yes
jq -r '.[] | [.repo, .targetBranch] | @tsv' "$record" | while IFS=$'\t' read -r repo branch; do
  mergeq queue wait --repo "$repo" --target-branch "$branch" --until idle --timeout 30m
done
"$@"
