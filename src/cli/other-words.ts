import type { CommandGroup } from '../command/command.ts'
import { formats } from '../output/output-formats.ts'
import { isPullRequestReference } from '../values/pull-request.ts'
import { findSimilarName } from '../values/similar-name.ts'

/**
 * What people type who know other programs, and what it means here. Of several rows for a word, the first counts.
 *
 * - `places`: the group or command before the word; empty for the first word. `queue *` is every command of the
 *   group, and `*` every command.
 * - `words`: the words that are typed. `<pr>` is any pull request, `<file>` any YAML or JSON file, and
 *   `<word>` any word.
 * - `meant`: the command or options that take their place, with `*` for the word itself, and `<n>` for the number after
 *   an option; empty if the word is left out, and what follows it stays. Or a sentence, which begins with a capital
 *   letter, or `none`, where a similar name would be wrong.
 */
type OtherWords = readonly [places: string, words: string, meant: string]

export const otherWords: readonly OtherWords[] = [
  ['queue', 'show view status info describe inspect', 'queue get'],
  ['', 'get show view status info list ls ps', 'queue get'],
  [', queue', 'ls all ps queues', 'queue list'],
  ['queue', 'add new init', 'queue create'],
  [
    'queue',
    'copy clone duplicate',
    'To copy the settings to another branch: mergeq queue export --for release-2.x | mergeq queue apply -f - --create --yes',
  ],
  ['queue', 'edit set configure config settings change', 'queue update'],
  [', queue', 'empty clear flush', 'To cancel all and delete the queue: mergeq queue delete --cancel-all'],
  ['queue', 'remove rm destroy drop', 'queue delete'],
  [
    'queue',
    'undo rollback revert',
    'To take a change back, run the command that mergeq queue update and mergeq queue apply print after it.',
  ],
  [', queue', 'freeze hold halt suspend stop disable', 'queue pause'],
  ['queue', 'start unpause continue unfreeze enable', 'queue resume'],
  [', queue', 'monitor top live watch follow logs events', 'queue watch'],
  ['queue', 'stats statistics summary trends', 'queue report'],
  ['queue', 'history results', 'queue runs'],
  ['', 'create update pause resume drain export diff apply', 'queue *'],
  ['queue update', '--paused --pause', 'queue pause'],
  ['queue update', '--running --no-paused --resume', 'queue resume'],
  ['queue update', '--draining --drain', 'queue drain'],
  ['queue update', '--max-concurrency --parallelism', '--concurrency'],
  ['queue update', '--batch-size --min-size', '--batching-min-size'],
  ['queue update', '--timeout-minutes --test-timeout', '--testing-timeout-minutes'],
  ['queue get', '<pr>', 'pr get *'],
  ['queue wait', '<pr>', 'pr wait *'],
  ['queue explain', '<pr>', 'pr explain *'],
  ['queue *', '<pr>', 'none'],
  ['queue diff, queue apply', '<file>', '-f *'],
  [
    'queue diff, queue apply',
    '<word>',
    'To name a file, use -f <file>. To compare with the queue of another branch, use queue diff --with-branch <branch>.',
  ],
  ['queue *', '<word>', '-b *'],
  ['queue diff', '--with --against --to --other', '--with-branch'],
  ['queue diff, queue export', '--from', '--target-branch'],
  ['queue export', '--to', '--for'],
  ['queue export', '--out --output-file', '--file'],
  ['queue apply', '--from --filename', '--file'],
  ['queue create', '--name', '--target-branch'],
  [
    'queue create',
    '--from --copy --like',
    'To copy the settings of another branch: mergeq queue export --for release-2.x | mergeq queue apply -f - --create --yes',
  ],
  ['queue list', '--state --status', '--include-state'],
  ['queue get', '--for', 'queue watch --for'],
  ['queue get', '--settings --config', 'queue export'],
  [
    'queue pause, queue drain',
    '--for --until',
    'A pause or drain has no end. To end it, run: mergeq queue resume',
  ],
  ['queue get, queue list, pr list', '--watch --follow --wait -w', 'queue watch'],
  ['queue get, queue list', '-A --all --all-namespaces --all-repos', 'queue list'],
  ['queue watch, queue wait, pr wait, pr submit, pr land', '--refresh --every --poll', '--interval <n>s'],
  ['queue watch, queue wait, pr wait, pr submit, pr land', '-n', 'none'],
  ['queue check', '--depth', '--max-depth'],
  ['queue check', '--max-age', '--stalled'],
  ['queue runs', '--failed --passed --cancelled', '--outcome *'],
  ['queue runs', '--state --status --result', '--outcome'],
  ['flaky', 'show view describe info search find why explain history', 'flaky get'],
  ['flaky', 'ls tests failing failed all', 'flaky list'],
  ['', 'test tests flakes', 'flaky list'],
  [
    ', flaky',
    'mute unmute quarantine unquarantine skip ignore disable',
    'Tests are quarantined on their page: mergeq flaky get --web <test>',
  ],
  [', flaky', 'ticket create-ticket', 'flaky link'],
  ['test', 'list ls all', 'flaky list'],
  [
    'flaky list',
    '--flaky --broken --unhealthy --status',
    'Flaky and broken tests are listed by: mergeq flaky unhealthy',
  ],
  [
    'flaky list',
    '--with-quarantined --include-quarantined',
    'Quarantined tests are listed, too. To leave them out, use --no-quarantined.',
  ],
  ['flaky list', '--exclude-quarantined --without-quarantined', '--no-quarantined'],
  ['', 'report match gate link quarantined unhealthy', 'flaky *'],
  ['flaky get', '<word>', 'Put a name of several words in quotes: mergeq flaky get "total price"'],
  ['flaky get', '--id --name --test', ''],
  [
    'flaky *, queue runs, queue report, pr list',
    '--start --from --for --last --past --window --after',
    '--since',
  ],
  ['flaky *, queue runs, queue report, pr list', '--end --to --before', '--until'],
  ['flaky *, queue runs, queue report', '--day --today', '--since 24h'],
  ['flaky *, queue runs, queue report', '--week', '--since 7d'],
  ['flaky *, queue runs, queue report', '--month', '--since 30d'],
  ['flaky *, queue runs, queue report, pr list', '--days', '--since <n>d'],
  ['flaky *, queue runs, queue report', '--weeks', '--since <n>w'],
  ['flaky *, queue runs, queue report', '--hours', '--since <n>h'],
  ['flaky *', '--team --codeowner --code-owner', '--owner'],
  [', pr, queue', '<pr>', 'pr get *'],
  ['pr', 'view show info read', 'pr get'],
  [', pr', 'open browse', 'pr get --web'],
  ['pr', 'mine', 'To list your pull requests: mergeq pr list --author <login>'],
  ['pr', 'ls all history', 'pr list'],
  [', pr, queue', 'eta when position', 'pr explain'],
  ['pr', 'edit change modify update set', 'pr submit'],
  ['pr', 'priority', 'To change the priority, submit again: mergeq pr submit <pr> --priority high'],
  ['pr', 'create new', 'No command opens a pull request. To submit one that is open: mergeq pr submit'],
  [
    'pr',
    'comment checkout review ready update-branch rebase diff',
    'No command of mergeq does this. Use the program of the code host, such as: gh pr --help',
  ],
  [', pr, queue', 'add enqueue queue merge push land ship reopen requeue retry r+', 'pr submit'],
  [', pr', 'bump prioritize', 'pr submit --priority high'],
  [', pr, queue', 'remove rm dequeue unqueue delete close stop kill', 'pr cancel'],
  [', pr', 'rerun retest rebuild', 'pr restart'],
  ['', 'run runs', 'none'],
  [', pr', 'checks runs ci jobs test tests log logs', 'pr testing'],
  [', pr', 'await watch follow', 'pr wait'],
  [', pr', 'why describe diagnose inspect', 'pr explain'],
  ['queue', 'why diagnose stuck blocked stalled', 'queue explain'],
  [', queue', 'submit cancel restart explain wait targets testing', 'pr *'],
  ['', 'pulls prs pull-request pull-requests mr mrs merge-request', 'pr'],
  ['pr get, pr explain, pr testing', '--watch --follow --wait', 'pr wait'],
  ['pr wait, pr submit', '--for=merged --for=condition=merged', '--until merged'],
  ['pr wait', '--for -t', '--timeout'],
  ['pr wait', '--max-wait --deadline', '--timeout'],
  ['pr wait', '--state --status', '--until'],
  ['pr submit', '--watch --follow -w --sync', '--wait'],
  ['pr submit', '--no-wait --async', 'Without --wait, the command does not wait.'],
  ['pr submit', '--auto', ''],
  ['pr submit', '--solo --alone --single', '--no-batch'],
  ['pr submit', '--skip-the-line', '--priority urgent'],
  [
    'pr submit',
    '--first --now --top',
    'To have it tested earlier: --priority high. With --priority urgent, it interrupts what is tested.',
  ],
  [
    'pr submit',
    '--merge-method --squash --rebase --merge',
    'The merge method is a setting of the queue: mergeq queue update --merge-method <method>',
  ],
  [
    'pr cancel',
    '--all',
    'To choose pull requests, list them: mergeq pr list --author ada | mergeq pr cancel -',
  ],
  ['pr submit, pr restart', '--all', 'Pull requests are named: mergeq pr submit 7 8 9'],
  [
    'pr get',
    '--branch',
    'The branch of the pull request is --head; the one that it is merged into is --target-branch.',
  ],
  ['pr get', '--history --events --log', '--timeline'],
  ['pr get', '--when --time', '--eta'],
  ['pr *', '--pr --number --id', ''],
  ['pr *', '--current', 'Without a pull request, that of the current branch is used.'],
  ['pr targets', '--file -f', '--from'],
  ['pr targets', '--target --targets --list', ''],
  ['pr submit', '--urgent --high --medium --low', '--priority *'],
  ['pr list', '--mine --me --my', 'To list your pull requests: mergeq pr list --author <login>'],
  ['pr list', '--assignee --user -A', '--author'],
  ['pr list', '--search --label --title', 'To search, read the rows: mergeq pr list | grep <word>'],
  ['pr list', '--merged --failed --cancelled --pending --testing', '--state *'],
  ['pr list', '--all', '--limit 1000'],
  ['', 'que q', 'queue'],
  ['', 'stat stats statistics', 'metrics'],
  ['metrics', '--since --last --window --from --for', 'The service has metrics of the last hour only.'],
  ['metrics', 'show list get', 'metrics'],
  ['', 'login logout token', 'auth *'],
  ['auth', 'refresh setup', 'auth login'],
  ['auth', 'remove rm delete', 'auth logout'],
  ['auth login', '-t', 'To pass a token, write it to standard input: mergeq auth login --with-token'],
  ['auth *', '--hostname --host --url --server', '--base-url'],
  ['', 'init setup configure', 'To begin, run: mergeq auth login, then mergeq doctor'],
  ['', 'repo', 'The repository is chosen by -R, MERGEQ_REPO or: mergeq config set repo <owner/name>'],
  ['', 'set', 'config set'],
  [', auth', 'whoami', 'auth status'],
  [
    'auth, config, ',
    'switch use use-context use-profile set-context current-context get-contexts contexts profile profiles',
    'To use another profile, add --profile <name> or set MERGEQ_PROFILE. To list the profiles: mergeq auth list',
  ],
  ['config', 'ls show view all --list', 'config list'],
  ['config', 'get-value', 'config get'],
  ['config', 'edit open', 'config path'],
  [
    'auth, config',
    'delete-context remove-profile delete-profile',
    'To remove a profile, remove its token and then its settings: mergeq auth logout --profile <name>',
  ],
  ['config *', '--global --local', 'Settings are stored for one user, in a profile: --profile <name>'],
  ['config', 'delete remove rm clear reset', 'config unset'],
  [', sandbox', 'demo try', 'sandbox tour'],
  ['sandbox', 'run', 'sandbox exec'],
  ['sandbox', 'up create new', 'sandbox start'],
  ['sandbox', 'stop down rm delete', 'A sandbox stops with Ctrl-C, or when its shell or command ends.'],
  [
    'sandbox start',
    '--background --detach -d',
    'To start it in the background of a shell, end the line with &.',
  ],
  ['sandbox *', '-p', '--port'],
  ['guard', 'status --check', 'guard check'],
  ['guard', 'enable on add setup --install', 'guard install'],
  ['guard', 'disable off remove rm --uninstall', 'guard uninstall'],
  ['', 'hook hooks', 'guard'],
  ['api', '<word>', 'Name only the operation: mergeq api getQueue'],
  ['api', '-d --data --body', 'To send fields: -F <key=value>. To send a document: --input <file>'],
  ['doctor', '--fix', 'Nothing is changed. Each failure names its fix.'],
  ['completion', '--shell -s', ''],
  ['', 'autocomplete', 'completion'],
  ['', 'man docs documentation', 'help'],
  ['', 'upgrade self-update', 'Update mergeq with the program that installed it, such as npm.'],
  ['', 'check health ping', 'doctor'],
  ['', 'exit-codes environment formatting', 'help *'],
  ['*', '--token --api-token', 'Other processes see it: set MERGEQ_TOKEN, or run: mergeq auth login'],
  ['*', '--repository', '--repo'],
  ['*', '--branch --base --target --queue -B', '--target-branch'],
  ['*', '--format', '--output'],
  ['*', formats.map(name => `--${name}`).join(' '), '--output *'],
  ['*', '--force --confirm -f', '--yes'],
  ['*', '--prio -p', '--priority'],
  ['*', '--top --count --max -L -n', '--limit'],
  ['*', '-s --status', '--state'],
  [
    'queue pause',
    '--reason --comment --message --body -m',
    'The service stores no reason for a pause, and does not tell who paused it.',
  ],
  ['*', '--reason --comment --message --body -m', 'No command takes a reason or a comment.'],
  ['*', '--watch --follow', 'Only queue watch and pr wait follow changes. They need no option for it.'],
  ['*', '--web', 'Pages are opened by: mergeq pr get --web <pr>, mergeq flaky get --web <test>'],
  [
    '*',
    '--template --jsonpath --no-headers --full',
    'To format the output, use --fields, or pipe --json to jq.',
  ],
  [
    '*',
    '--sort --sort-by --order --reverse',
    'Only flaky list and flaky report have --sort. Otherwise, pipe --json to jq.',
  ],
  ['*', '--dryrun --what-if -n', '--dry-run'],
  ['*', '--no-color --no-colour', '--color never'],
  ['*', '--colour', '--color'],
  ['*', '-V', '--version'],
]

type Words = readonly string[]
type Groups = readonly CommandGroup[]

export const isWord = (word: string): boolean => !/^-./.test(word)

export const isSentence = (meant: string): boolean => /^[A-Z]/.test(meant)

/** Words that name no branch: those of commands, here and elsewhere, and the values of a flag. */
const verbs = new Set(
  `${otherWords.map(([, words, meant]) => (isSentence(meant) ? words : `${words} ${meant}`)).join(' ')} on yes no true false`.split(
    ' ',
  ),
)

/** Returns the places of the words and options of a command. */
export const placesIn = ([group, ...verb]: Words): Words => [[group, ...verb].join(' '), `${group} *`, '*']

/** Returns the words of what is meant, with the typed word in the place of `*`. */
export const wordsOf = (meant: string, typed = ''): Words =>
  meant.split(' ').map(word => (word === '*' ? typed.replace(/^--/, '') : word))

/** Returns what the table says about a word in one of the places, of which the first counts. */
export function findMeant(places: Words, typed: string, options: Words = []): string | undefined {
  const matches = ([, words, meant]: OtherWords) =>
    words
      .split(' ')
      .some(
        word =>
          word === typed ||
          (word === '<word>' && isWord(typed) && (isWord(meant) || !verbs.has(typed))) ||
          (word === '<pr>' && isPullRequestReference(typed)) ||
          (word === '<file>' && /\.(?:ya?ml|json)$/i.test(typed)),
      ) &&
    (isWord(typed) || isWord(meant) || options.includes(wordsOf(meant)[0] ?? ''))
  const rows = otherWords.filter(matches)
  return places.flatMap(place => rows.filter(row => row[0].split(', ').includes(place)))[0]?.[2]
}

/** Returns the commands of a group, or all groups, by the word that is typed. */
const commandsOf = (group: string, groups: Groups): readonly (readonly [string, string])[] =>
  group === ''
    ? groups.map(({ name }) => [name, name])
    : (groups.find(({ name }) => name === group)?.commands ?? []).flatMap(({ name, alias }) =>
        [name, alias ?? []].flat().map(word => [word, `${group} ${name}`] as const),
      )

/** Returns the group that a word names: `pr` for a pull request, for `pr`, and for `prs`. */
const groupOf = (word: string): string =>
  isPullRequestReference(word) || findMeant([''], word) === 'pr' ? 'pr' : word.replace(/s$/, '')

/**
 * Returns what was probably meant by a word that names no command, by the table, else by its spelling, and the words
 * whose place it takes. A word is looked up in the group that follows it, too; that of a pull request is `pr`.
 */
export function findCommand(path: Words, word: string, next: string, groups: Groups) {
  const [group, other] = [path.join(' '), groupOf(next)]
  const places = group === '' || (group === 'queue' && other === 'pr') ? [other, group] : [group]
  const byName = new Map(places.toReversed().flatMap(place => commandsOf(place, groups)))
  // `tests list`: a word for a list names the group, too.
  const isBeforeVerb = group === '' && next !== '' && other !== 'pr'
  const said = findMeant(places, word)?.replace(isBeforeVerb ? / list$/ : '', '')
  const known = byName.get(word) ?? said
  const meant = known ?? byName.get(findSimilarName(word, [...byName.keys()]) ?? '')
  const namesGroup = group === '' && !isPullRequestReference(next) && meant?.startsWith(`${other} `)
  return { meant, isGuess: known === undefined, typed: namesGroup ? [word, next] : [...path, word] }
}
