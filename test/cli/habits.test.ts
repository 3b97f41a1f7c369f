import { describe, expect, test } from 'vitest'
import { formatLine } from '../../src/cli/meant-line.ts'
import { parseCommandLine } from '../../src/cli/parse.ts'
import { commandGroups } from '../../src/commands/index.ts'
import { mergeq, splitWords } from '../support/harness.ts'

/**
 * What people type who use other programs every day, and the answer: `=` the line is right as it is, `>` the exact
 * command line, `"` a part of a sentence, and `?` only the command, with its help.
 */
const habits: Readonly<Record<string, string>> = {
  gh: `
pr list                               =
pr view                               > pr get
pr view 5                             > pr get 5
pr view 5 --comments                  > pr get 5\\nThe comments are on the page
pr get 5 --json state,title           > pr get 5 --json --fields state,prTitle
pr list --json number -q .[].number   " jq '.[].number'
pr list --json number,state           > pr list --json --fields prNumber,state
pr list -L 5                          > pr list --limit 5
pr list --state merged,failed         > pr list --state merged --state failed
pr list -s merged                     > pr list --state merged
pr list -A ada                        > pr list --author ada
pr list --assignee ada                > pr list --author ada
pr list --label bug                   " To search, read the rows
pr list --search cart                 " To search, read the rows
pr list -S cart                       " To search, read the rows
pr list --head fix-cart               " pr get --head <branch>
pr list -H fix-cart                   " pr get --head <branch>
pr list --base main                   > pr list --target-branch main
pr list -B main                       > pr list --target-branch main
pr list --web                         " Only pr get, pr explain
pr ls                                 > pr list
pr merge 5                            > pr submit 5
pr merge 5 --auto                     > pr submit 5
pr merge 5 --squash                   > pr submit 5\\nThe merge method is a setting
pr merge 5 -s                         > pr submit 5\\nThe merge method is a setting
pr merge --rebase 5                   > pr submit 5\\nThe merge method is a setting
pr merge 5 --admin                    > pr submit 5\\nNothing passes the queue
pr merge 5 --delete-branch            > pr submit 5\\nThe service does not delete branches
pr merge 5 -d                         > pr submit 5\\nThe service does not delete branches
pr submit 5 -y                        " Nothing is asked
pr submit 5 --yes                     " Nothing is asked
pr close 5                            > pr cancel 5
pr close 5 --comment no               ? pr cancel
pr reopen 5                           > pr submit 5
pr checks 5 --watch                   > pr wait 5
pr checkout 5                         " gh pr --help
pr diff 5                             " gh pr --help
pr comment 5                          " gh pr --help
pr review 5 --approve                 " gh pr --help
pr ready 5                            " gh pr --help
pr update-branch 5                    " gh pr --help
pr create                             " No command opens a pull request
pr new                                " No command opens a pull request
pr edit 5 --priority high             > pr submit 5 --priority high
pr get PR-5                           > pr get 5
pr get GH-5                           > pr get 5
pr get 05                             > pr get 5
pr get pr/5                           > pr get 5
pr get fix-cart                       > pr get --head fix-cart
pr get feature/cart                   > pr get --head feature/cart
pr submit 5,6                         > pr submit 5 6
pr submit '5 6'                       > pr submit 5 6
pr submit 5, 6                        > pr submit 5 6
pr cancel 5 --reason late             " This command takes no reason
pr cancel 5 -m late                   " This command takes no reason
run list                              > queue runs
run ls                                > queue runs
run watch                             > queue watch
run view 5                            > pr testing 5
run rerun 5                           > pr restart 5
run cancel 5                          " mergeq pr testing <pr>
runs                                  > queue runs
repo view                             " The repository is chosen by
browse                                > pr get --web
browse 5                              > pr get --web 5
web                                   > pr get --web
issue list                            " No command of mergeq does this
release list                          " No command of mergeq does this
workflow run                          " No command of mergeq does this
auth login -t                         " auth login --with-token
auth login --hostname trunk.io        " Did you mean --base-url?
auth status -t                        > auth token
auth refresh                          > auth login
auth setup-git                        > auth login
auth switch                           " To use another profile
auth use work                         " mergeq auth list
auth profiles                         " mergeq auth list
profiles                              " mergeq auth list
whoami                                > auth status
config ls                             > config list
config set repo=acme/web              > config set repo acme/web
config clear-cache                    ? config
api repos acme/web                    " Name only the operation
api getQueue -d x=1                   " To send fields: -F
completion -s zsh                     > completion zsh
`,
  git: `
status                                > queue get
log                                   > queue runs
push                                  > pr submit
push 5                                > pr submit 5
commit                                " Use git
fetch                                 " Use git
checkout main                         " Use git
branch                                " Use git
clone                                 " Use git
tag                                   " Use git
stash                                 " Use git
remote                                " The repository is chosen by
diff q.yaml                           > queue diff -f q.yaml
show                                  > queue get
show 5                                > pr get 5
blame 5                               > pr explain 5
revert                                " To take a change back
undo                                  " To take a change back
config --list                         > config list
config -l                             > config list
config --get repo                     > config get repo
config --unset repo                   > config unset repo
config --global color never           " Settings are stored
config set --global color never       " Settings are stored for one user
config edit                           > config path
init                                  " To begin, run
hook                                  > guard
hooks install                         > guard install
-V                                    > --version
--verison                             > --version
pr submit 5 -n                        > pr submit 5 --dry-run
pr list -n 5                          > pr list --limit 5
pr list -n                            > pr list --dry-run
queue watch -n 5                      > queue watch --interval 5s
pr wait 5 -n 10                       > pr wait 5 --interval 10s
pr cancel 5 -f                        " Did you mean --yes?
pr submit 5 --force                   " Nothing passes the queue
queue runs --since '1 day ago'        > queue runs --since 1d
queue runs --since 1.day.ago          " Use a duration
queue runs --after 2026-01-05         > queue runs --since 2026-01-05
queue runs --before yesterday         > queue runs --until yesterday
flaky list --since '7 days'           > flaky list --since 7d
flaky list --since 7days              > flaky list --since 7d
flaky list --since='24 hours'         > flaky list --since 24h
`,
  kubectl: `
get pr/5                              > pr get 5
get prs                               > pr list
get queues -A                         > queue list
get tests                             > flaky list
get queue -w                          > queue watch
queue get --watch                     > queue watch
queue get -A                          > queue list
queue get --all                       > queue list
queue get main                        > queue get -b main
queue get acme/web                    > queue get -R acme/web
queue pause release/2.4               > queue pause -b release/2.4
queue get --branch main               > queue get --target-branch main
describe pr 5                         > pr explain 5
describe queue                        > queue get
logs -f                               ? queue watch
events                                > queue watch
top                                   > queue watch
delete queue main                     > queue delete -b main
apply q.yaml                          > queue apply -f q.yaml
queue apply --filename q.yaml         > queue apply --file q.yaml
queue apply --from q.yaml             > queue apply --file q.yaml
create queue release                  > queue create -b release
edit queue                            ? queue update
scale --replicas 3                    " queue update --concurrency <n>
queue update --replicas 3             > queue update --concurrency 3
queue set concurrency 3               > queue update --concurrency 3
queue update --batch=true             > queue update --batch
queue update --batch=off              > queue update --no-batch
queue update --batch off              > queue update --no-batch
rollout undo                          " To take a change back
rollout restart                       ? 
cordon                                > queue pause
uncordon                              > queue resume
drain                                 > queue drain
wait pr 5 --for=merged                > pr wait 5 --until merged
pr wait 5 --for=condition=merged      > pr wait 5 --until merged
pr wait 5 --timeout '10 minutes'      > pr wait 5 --timeout 10m
config use-context work               " To use another profile
config get-contexts                   " To use another profile
config current-context                " To use another profile
config view                           > config list
cluster-info                          > doctor
auth whoami                           > auth status
--namespace acme queue get            ? 
queue get -n acme                     " Did you mean --dry-run?
queue get -o name                     " must be one of: table
queue get --no-headers                " use --fields
queue get -l a=b                      ? queue get
`,
  vendor: `
merge submit 5                        > pr submit 5
merge cancel 5                        > pr cancel 5
merge status 5                        > pr get 5
merge pause                           > queue pause
merge resume                          > queue resume
merge restart 5                       > pr restart 5
merge list                            > queue list
flakytests upload                     " own uploader
flakytests validate                   " own uploader
flakytests quarantine                 " on their page
flaky mute 2b4e8d1c                   " on their page
flaky ticket 2b4e8d1c KAN-1           > flaky link 2b4e8d1c KAN-1
config print                          > config list
upgrade                               " with the program that installed it
check                                 > doctor
pr submit --pr 5                      > pr submit 5
pr submit 5 --wait=10m                > pr submit 5 --wait --timeout 10m
pr submit 5 --wait=false              > pr submit 5
pr submit 5 --no-wait                 " Without --wait
pr submit 5 --urgent                  > pr submit 5 --priority urgent
pr submit 5 --prio high               > pr submit 5 --priority high
pr submit 5 -p high                   > pr submit 5 --priority high
pr submit 5 --front                   " --priority high
pr submit 5 --skip-the-line           > pr submit 5 --priority urgent
pr submit 5 --solo                    > pr submit 5 --no-batch
pr sumbit 5                           > pr submit 5
pr canel 5                            > pr cancel 5
pr mrege 5                            > pr submit 5
que lsit                              > queue list
submit 5                              > pr submit 5
pause                                 > queue pause
tour                                  > sandbox tour
play                                  > sandbox tour
demo                                  > sandbox tour
5                                     > pr get 5
`,
  'bors, Mergify, Graphite': `
r- 5                                  > pr cancel 5
retry 5                               > pr submit 5
try                                   > sandbox tour
ping                                  > doctor
queue 5                               > pr get 5
queue enqueue 5                       > pr submit 5
requeue 5                             > pr submit 5
dequeue 5                             > pr cancel 5
unqueue 5                             > pr cancel 5
queue remove 5                        > pr cancel 5
queue pop 5                           > pr cancel 5
refresh                               " reads a pull request again by itself
refresh 5                             " reads a pull request again by itself
update 5                              " submit again: mergeq pr submit <pr> --priority high
rebase 5                              " gh pr --help
freeze                                > queue pause
unfreeze                              > queue resume
hold                                  > queue pause
queue freeze                          > queue pause
queue unpause                         > queue resume
queue lock                            > queue pause
queue unlock                          > queue resume
queue status                          > queue get
queue show                            > queue get
queue ls                              > queue list
queue history                         > queue runs
queue stats                           > queue report
queue copy main release               " To copy the settings of main to release
queue clone main release              " mergeq queue export -b main --for release --file release.yaml
queue rollback                        " To take a change back
queue export --since 7d               > queue runs --since 7d
queue pause --for 1h                  " has no end
queue why                             > queue explain
queue eta                             > pr explain
eta 5                                 > pr explain 5
why 5                                 > pr explain 5
position 5                            > pr explain 5
bump 5                                > pr submit --priority high 5
ship 5                                > pr submit 5
sync                                  " Use git
restack                               " Use git
stats                                 > metrics
watch 5                               > pr wait 5
watch                                 > queue watch
monitor                               > queue watch
tests                                 > flaky list
test list                             > flaky list
docs                                  > help
states                                > help states
setup                                 " To begin, run
`,
  'none of these': `
pr submit 7 --high                    > pr submit 7 --priority high
pr close 7 --yes                      > pr cancel 7
delete pr 7 --force                   > pr cancel 7
pr merge 7 --dryrun                   > pr submit 7 --dry-run
stop 7                                > pr cancel 7
queue rm release --yes                > queue delete -b release
list queues                           > queue list
pr open 7                             > pr get --web 7
pr get 7 --watch                      > pr wait 7
queue wait 7                          > pr wait 7
queue add                             > queue create
queue update concurrency=5            > queue update --concurrency 5
queue diff --from main --to release   > queue diff --target-branch main --with-branch release
queue get --settings                  > queue export
config delete color                   > config unset color
submit 7 --wait                       > pr submit 7 --wait
exit-codes                            > help exit-codes
queue watch --every 5                 > queue watch --interval 5s
flaky get --id cd5613fd               > flaky get cd5613fd
completion --shell zsh                > completion zsh
pr wait 7 --every=30s                 > pr wait 7 --interval 30s
flaky list --days 7                   > flaky list --since 7d
flaky list --last 1w                  > flaky list --since 1w
flaky list --team @acme/web           > flaky list --owner @acme/web
flaky why cd5613fd                    > flaky get cd5613fd
-q -R acme/web flaky lits --limit 3   > -q -R acme/web flaky list --limit 3
pr list --csv                         > pr list --output csv
pr list --failed --since 24h          > pr list --state failed --since 24h
pr wait 7 --for=5m                    > pr wait 7 --timeout=5m
flaky list --for 7d                   > flaky list --since 7d
queue get --josn                      > queue get --json
queue get --tagret-branch main        > queue get --target-branch main
--dry-rnu pr submit 34                > --dry-run pr submit 34
mergeq pr submit 34                   > pr submit 34
queue pause 'deploy broken'           " To pause the queue, run: mergeq queue pause
queue drain 'deploy broken'           " To drain the queue, run: mergeq queue drain
queue resume 'deploy done'            " run: mergeq queue resume
queue clear                           " mergeq pr list --state not-ready --state pending
flush                                 " | mergeq pr cancel -
clean                                 ? 
treeopen                              > queue resume
treeclosed=5                          " mergeq queue pause
queue set --concurrency 5             > queue update --concurrency 5
queue rename main trunk               " mergeq queue export --for <branch>
trunk merge 34                        > pr submit 34
trunk                                 ? 
bors r+                               > pr submit
@bors r+ 34                           > pr submit 34
merge-train add 34                    > pr submit 34
mr !34                                > pr get 34
flaky-tests list                      > flaky list
queue update --concurrency 5 --for 1h " has no end
pr explain 42 --by 18:00              " mergeq pr get <pr>
pr wait 42 --by 18:00                 " mergeq pr get <pr>
pr restart --failed                   " mergeq pr list --state failed | mergeq pr submit -
switch release                        " --profile release or set MERGEQ_PROFILE=release. To list the profiles: mergeq auth list
profile use beta                      " --profile beta
ci status                             > pr testing
ci view                               > pr testing
ci retry                              > pr restart
log short                             ? 
revert 34                             ? 
rollup 34                             ? 
stack list                            " Use git
auth logout --hostname github.com     " mergeq auth logout --profile <name>
pr submit 34 --to release             > pr submit 34 --target-branch release
pr edit 34 --add-label hotfix         " gh pr --help
pr submit 34 --wait 10m               > pr submit 34 --wait --timeout 10m
pr timeline 34                        > pr get --timeline 34
pr history 34                         > pr get --timeline 34
queue settings                        > queue export
queue config                          > queue export
queue watch 34                        > pr wait 34
flaky top                             > flaky list
flaky check j.xml                     > flaky match j.xml
report                                > queue report
sandbox run npm test                  > sandbox exec npm test
diff main release                     " mergeq queue diff -b main --with-branch release
logs -f 34                            > pr wait 34
merge priority 34 urgent              " mergeq pr submit 34 --priority urgent
hotfix 34                             > pr submit --priority urgent 34
`,
}

type Answer = readonly [sign: string, text: string]

const rows = Object.values(habits).flatMap(text =>
  text
    .trim()
    .split('\n')
    .map(row => {
      const [, typed = '', sign = '', meant = ''] = /^(.+?) +([=>"?])(?: +(.*?))? *$/.exec(row) ?? []
      return { typed, wanted: [sign, meant] as Answer }
    }),
)

const helpOnly =
  /^(?:Did you mean [\w ]+\?\n)?To (?:see the usage|list the commands), run: mergeq(.*) --help$/
const exact = /^(?:Did you mean|To print only some fields, run): mergeq (.*)/s

/** Returns the answer to a command line, in the form of the table. */
async function answerTo(typed: string): Promise<Answer> {
  const argv = splitWords(typed)
  const reading = await parseCommandLine(argv, commandGroups)
  const isRight = reading.asksFor !== 'error' && formatLine(argv, reading) !== undefined
  if (isRight || reading.asksFor === 'version') return ['=', '']
  const { code, err } = await mergeq(argv, { env: { MERGEQ_BASE_URL: 'http://127.0.0.1:9/v1' } })
  expect({ typed, code }).toEqual({ typed, code: 2 })
  const [message = '', ...lines] = err.trimEnd().split('\n')
  const hint = err.startsWith('{') ? JSON.parse(err).error.hint : lines.map(line => line.slice(2)).join('\n')
  const [, line] = exact.exec(hint) ?? []
  const [, command] = helpOnly.exec(hint) ?? []
  if (line !== undefined) return ['>', line.replaceAll('\n', '\\n')]
  return command === undefined ? ['"', `${message}\n${hint}`] : ['?', command.trim()]
}

/** Whether an answer is the one of the table, where a sentence may go on. */
const isAs = ([sign, text]: Answer, [wanted, meant]: Answer): boolean =>
  sign === wanted &&
  (sign === '"' ? text.includes(meant) : text === meant || (meant.includes('\\n') && text.startsWith(meant)))

describe('what is typed out of habit', () => {
  test('is answered with what is meant', async () => {
    const answers = await Promise.all(rows.map(async row => ({ ...row, answer: await answerTo(row.typed) })))
    expect(answers.filter(({ answer, wanted }) => !isAs(answer, wanted))).toEqual([])
    // Of 300 lines; where only a page of help can be named, the line is not clear.
    const count = (sign: string) => answers.filter(({ answer }) => answer[0] === sign).length
    expect({ all: rows.length >= 300, helpOnly: count('?') <= 25 }).toEqual({ all: true, helpOnly: true })
  })

  test('is answered with lines that can be typed', async () => {
    for (const { wanted } of rows.filter(({ wanted: [sign] }) => sign === '>')) {
      const [line = ''] = wanted[1].split('\\n')
      const { problem } = await parseCommandLine(splitWords(line), commandGroups)
      expect({ line, problem: problem?.kind ?? 'missing-argument' }).toEqual({
        line,
        problem: 'missing-argument',
      })
    }
  })
})
