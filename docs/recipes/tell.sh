#!/usr/bin/env bash
# tell.sh [options of queue watch]
# Sends a message to the webhook of a chat, in WEBHOOK, for each pull request that leaves a queue. Needs jq and curl.
set -euo pipefail
messages='
  def plain: gsub("\\s+"; " ") | gsub("&"; "&amp;") | gsub("<"; "&lt;") | gsub(">"; "&gt;");
  {
    "later": "Submit it again after a pause.",
    "after-change": "Change it before you submit it again.",
    "look": "Look at it before you submit it again.",
    "no": "Do not submit it again.",
    "done": ""
  } as $advice
  | {"MERGED": "merged in", "FAILED": "failed in", "CANCELLED": "was cancelled in", "null": "left"} as $left
  | select(.type == "change" and .pr != null and .position == null and $left["\(.to)"] != null)
  | ["#\(.pr)", (.author // empty | "of \(.)"), $left["\(.to)"], "the queue for \(.targetBranch) of \(.repo)."] as $what
  | [
      ($what | join(" ")),
      .reason // (if .to == "MERGED" then "" else "The reason is not known yet." end),
      ([select(.to != "MERGED") | .by, .actor] | map(values) | if length > 0 then "Caused by: \(join(", "))." else "" end),
      if .mayBeMerged then "It may have merged all the same: look at the target branch first."
      else $advice[.again // "look"] // $advice.look end,
      "https://\(.repo)/pull/\(.pr)"
    ] as $sentences
  | "\(.repo)#\(.pr) \(.at)\t\({text: ($sentences | map(select(. != "")) | join(" ") | plain)} | tojson)"'

send() {
  curl --silent --show-error --fail --max-time 10 --retry 3 --output /dev/null \
    --header 'Content-Type: application/json' --data "$1" "$WEBHOOK"
}

# After a restart, --since also has what was told before.
touch told.txt
mergeq queue watch -o ndjson --since 1h "$@" | jq --unbuffered -r "$messages" | while IFS=$'\t' read -r key message; do
  if grep -qxF "$key" told.txt; then continue; fi
  send "$message" || printf '%s\n' "$message" >> undelivered.ndjson
  printf '%s\n' "$key" >> told.txt
done
