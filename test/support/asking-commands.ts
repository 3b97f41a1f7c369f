import { allCommands } from './commands.ts'

const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'

/** The commands that send requests to a service that is not their own. */
export const askingCommands = allCommands
  .filter(
    ({ operations, command }) =>
      (operations === 'any' || operations.length > 0) && !command.startsWith('sandbox '),
  )
  .map(({ command }) => command)

/** What is typed behind the name of each of them; the first shows most. */
export const askingLines: Readonly<Record<string, readonly string[]>> = {
  'pr submit': ['7 8 --wait --timeout 2s --interval 1s', '7 8 --priority high', '7 --priority 30 --no-batch'],
  'pr cancel': ['7 8 --yes'],
  'pr restart': ['7'],
  'pr get': ['7 8', '--head fix-cart', '7 --set includeTimeline=true'],
  'pr list': [
    '',
    '--state merged --since 24h',
    '--state not-ready --state pending --author ada --page-size 5',
  ],
  'pr targets': [
    '7 a b --sha 4f2a',
    '7 --all --sha 4f2a',
    '7 --none --sha 4f2a',
    '7 a --no-sha',
    '7 a --sha 4f2a --forked-run 42',
  ],
  'pr testing': [id, `trunk-merge/pr-7/${id}`, '--pr 7'],
  'pr wait': ['7 8 --timeout 3s --interval 1s'],
  'pr explain': ['7'],
  'queue create': ['', '--mode parallel --concurrency 3'],
  'queue get': [''],
  'queue list': [''],
  'queue update': [
    '--concurrency 5 --batch --state paused --mode single',
    '--testing-timeout-minutes 0 --required-status build --merge-method squash --enqueueing-label merge',
    '--delete-required-statuses --direct-merge-mode off --not-ready-timeout-hours 24',
  ],
  'queue delete': ['--cancel-all --yes', '--yes'],
  'queue pause': [''],
  'queue resume': [''],
  'queue drain': [''],
  'queue wait': ['--timeout 3s --interval 1s'],
  'queue watch': ['--for 3s --interval 1s -o ndjson', '--once'],
  'queue export': ['', '--all -f queues --yes'],
  'queue diff': ['-f queue.yaml'],
  'queue apply': ['-f queue.yaml --yes'],
  'queue check': ['--max-depth 3 --stalled 2h --not-paused'],
  metrics: ['', '--all-repos'],
  'flaky list': [
    '',
    '--since 30d',
    '--page-size 5 --page-token t --owner @a --quarantined',
    '--sort impact --limit 2',
  ],
  'flaky get': [id],
  'flaky quarantined': ['', '--page-size 5 --limit 3'],
  'flaky unhealthy': ['', '--status broken --no-quarantined'],
  'flaky link': [`${id} KAN-123`, `${id.slice(0, 8)} KAN-123`],
  'flaky report': ['', '--format github'],
  'flaky match': ['junit.xml'],
  'flaky gate': ['--max 0', '--max 0 --window-only'],
  guard: ['-- origin https://github.com/acme/web'],
  api: ['getQueue --include', 'status', 'listPullRequests -F take=5', 'createQueue -F concurrency=2'],
  'auth login': ['--with-token'],
  'auth status': [''],
  doctor: [''],
}

const queueFile = 'repo: acme/web\ntargetBranch: main\nsettings:\n  concurrency: 3\n'

/** The files that these lines name. */
export const askingFiles = {
  '/repo/queue.yaml': queueFile,
  'queue.yaml': queueFile,
  'junit.xml':
    '<testsuite name="s"><testcase name="a" classname="b"><failure message="m">f</failure></testcase></testsuite>',
}
