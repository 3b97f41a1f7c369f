/**
 * A command, and the words that people type for it, separated by spaces. A command that ends with `<pr>` is
 * meant only if a pull request follows. Of several rows with the same word, the first is meant. Options after the
 * command are a part of it.
 */
export type SynonymRow = readonly [command: string, words: string]

/** By the group that was typed; the rows of `''` are for words without a group. */
export const commandSynonyms: Readonly<Record<string, readonly SynonymRow[]>> = {
  pr: [
    ['pr get', 'view show info read open'],
    ['pr list', 'ls all mine ps history'],
    ['pr submit', 'add enqueue queue merge push land ship create new ready'],
    ['pr cancel', 'remove rm dequeue delete close stop abort unqueue eject'],
    ['pr restart', 'retry rerun retest rebuild'],
    ['pr testing --pr <pr>', 'checks runs run ci test tests jobs logs'],
    ['pr testing', 'checks runs run ci test tests jobs logs'],
    ['pr wait', 'watch await follow'],
    ['pr explain', 'why describe diagnose reason debug'],
    ['pr targets', 'impacted impacted-targets set-targets'],
  ],
  queue: [
    ['pr submit <pr>', 'add submit enqueue merge push'],
    ['pr cancel <pr>', 'remove rm delete cancel dequeue'],
    ['pr restart <pr>', 'restart retry rerun'],
    ['pr get <pr>', 'get show view status describe info'],
    ['queue get', 'show view status info describe'],
    ['queue list', 'ls all ps'],
    ['queue create', 'add new init'],
    ['queue update', 'edit set configure config settings change patch'],
    ['queue delete', 'remove rm destroy drop'],
    ['queue pause', 'stop freeze hold halt suspend disable'],
    ['queue resume', 'start unpause continue restart unfreeze enable'],
    ['queue drain', 'empty flush'],
    ['queue watch', 'monitor top live follow wait log logs events history'],
    ['queue check', 'health verify test'],
    ['pr submit', 'submit enqueue merge push'],
    ['pr cancel', 'cancel dequeue'],
  ],
  flaky: [
    ['flaky get', 'show view describe info details'],
    ['flaky list', 'ls tests failing failed all status'],
    ['flaky unhealthy', 'broken'],
    ['flaky report', 'summary'],
  ],
  metrics: [['metrics', 'get show view list ls print all']],
  auth: [
    ['auth login', 'signin sign-in add set store setup'],
    ['auth logout', 'signout sign-out remove rm delete clear'],
    ['auth status', 'show whoami view check list ls get test'],
  ],
  config: [
    ['config list', 'ls show view all dump'],
    ['config get', 'read print'],
    ['config set', 'add edit update change'],
    ['config unset', 'delete remove rm clear reset'],
  ],
  sandbox: [
    ['sandbox start', 'up serve server launch open'],
    ['sandbox exec', 'run'],
  ],
  '': [
    ['--version', 'version ver'],
    ['help exit-codes', 'exit-codes exitcodes'],
    ['help environment', 'environment env'],
    ['help formatting', 'formatting formats'],
    ['auth login', 'login signin sign-in'],
    ['auth logout', 'logout signout sign-out'],
    ['auth status', 'whoami'],
    ['auth token', 'token'],
    ['pr submit', 'submit add enqueue merge push land ship'],
    ['pr cancel', 'cancel remove rm dequeue unqueue'],
    ['pr restart', 'restart retry rerun retest'],
    ['pr get --web <pr>', 'open browse'],
    ['pr get <pr>', 'get view show status info'],
    ['pr wait <pr>', 'watch'],
    ['pr wait', 'wait await'],
    ['pr explain', 'explain why describe diagnose'],
    ['pr testing --pr <pr>', 'testing checks ci run runs test log logs'],
    ['pr testing', 'testing checks ci run runs'],
    ['pr targets', 'targets impacted-targets'],
    ['pr list --state=merged', 'log logs history merged'],
    ['pr list --state=failed', 'failed failures'],
    ['queue get', 'get view show status info list ls ps'],
    ['queue watch', 'watch top monitor live'],
    ['queue create', 'create new init'],
    ['queue update', 'update edit'],
    ['queue delete', 'delete'],
    ['queue pause', 'pause freeze hold stop'],
    ['queue resume', 'resume unpause continue'],
    ['queue drain', 'drain'],
    ['queue export', 'export'],
    ['queue diff', 'diff'],
    ['queue apply', 'apply'],
    ['flaky report', 'report'],
    ['flaky match', 'match'],
    ['flaky gate', 'gate'],
    ['config set', 'set'],
    ['config unset', 'unset'],
    ['sandbox start', 'start serve'],
    ['sandbox exec', 'exec'],
    ['sandbox tour', 'tour'],
    ['doctor', 'check health ping'],
    ['pr', 'prs pull pulls pull-request pull-requests mr mrs merge-request merge-requests'],
    ['queue', 'queues mq merge-queue merge-queues'],
    ['flaky', 'test tests flake flakes flaky-test flaky-tests'],
    ['config', 'settings setting configuration preferences'],
    ['metrics', 'stats statistics'],
  ],
}

/**
 * What an option is called elsewhere. A row counts for a command that has the option; several options, perhaps
 * with values, take the place of the word.
 */
export const optionSynonyms: readonly SynonymRow[] = [
  ['--repo', '--repository'],
  ['--target-branch', '--branch --base --target --queue -B'],
  ['--org', '--organization'],
  ['--base-url', '--url --host'],
  ['--profile', '--context'],
  ['--output', '--format'],
  ['--fields', '--field --columns'],
  ['--yes', '--force --confirm --assume-yes -f -y'],
  ['--quiet', '--silent'],
  ['--verbose', '--debug'],
  ['--limit', '--count -L -n'],
  ['--dry-run', '--dryrun --what-if -n'],
  ['--color=never', '--no-color --no-colour'],
  ['--no-input', '--non-interactive --no-prompt'],
  ['--ca-file', '--cacert --cafile'],
  ['--since', '--start --from'],
  ['--until', '--end --to'],
  ['--head', '--branch-name'],
  ['--sha', '--commit'],
  ['--state', '-s'],
  ['--status', '-s'],
  ['--priority', '-p'],
  ['--author', '-a -A'],
  ['--timeout', '-t'],
  ['--interval', '-i'],
  ['--state=merged', '--merged'],
  ['--state=failed', '--failed'],
  ['--state=cancelled', '--cancelled'],
  ['--state=pending', '--pending'],
  ['--state=testing', '--testing'],
  [
    '--state=not-ready --state=pending --state=testing --state=tests-passed --state=pending-failure',
    '--open',
  ],
  ['--state=merged --state=failed --state=cancelled', '--closed'],
  ['--limit=0', '--all'],
  ['--all-repos', '--all -a -A'],
  ['--author=NAME', '--mine'],
]

const metricsRange =
  'The service has metrics of the last hour only. To list pull requests that merged earlier, run: mergeq pr list --state merged --since 7d'

/** What is said about an unknown option of a command instead of a correction. */
export const optionNotes: Readonly<Record<string, string>> = {
  'pr submit --all': 'To submit several pull requests, pipe their numbers into: mergeq pr submit -',
  'pr cancel --all': 'To cancel several pull requests, pipe their numbers into: mergeq pr cancel -',
  'metrics --since': metricsRange,
  'metrics --until': metricsRange,
  'metrics --last': metricsRange,
}

/** Commands that follow what another command shows once: `pr get 7 --watch` is `pr wait 7`. */
export const watchCommands: Readonly<Record<string, string>> = {
  'pr get': 'pr wait',
  'queue get': 'queue watch',
}
