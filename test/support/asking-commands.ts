import { allCommands } from './commands.ts'

const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'

/** The commands that send requests to a service that is not their own. */
export const askingCommands = allCommands
  .filter(
    ({ operations, command }) =>
      (operations === 'any' || operations.length > 0) && !command.startsWith('sandbox '),
  )
  .map(({ command }) => command)

/** What is typed behind the name of each of them. */
export const askingLines: Readonly<Record<string, string>> = {
  'pr submit': '7 8 --wait --timeout 2s --interval 1s',
  'pr cancel': '7 8 --yes',
  'pr restart': '7',
  'pr get': '7 8',
  'pr list': '',
  'pr targets': '7 a b --sha 4f2a',
  'pr testing': id,
  'pr wait': '7 8 --timeout 3s --interval 1s',
  'pr explain': '7',
  'queue create': '',
  'queue get': '',
  'queue list': '',
  'queue update': '--concurrency 5 --batch --state paused --mode single',
  'queue delete': '--cancel-all --yes',
  'queue pause': '',
  'queue resume': '',
  'queue drain': '',
  'queue wait': '--timeout 3s --interval 1s',
  'queue watch': '--for 3s --interval 1s -o ndjson',
  'queue export': '',
  'queue diff': '-f queue.yaml',
  'queue apply': '-f queue.yaml --yes',
  'queue check': '--max-depth 3 --stalled 2h --not-paused',
  metrics: '',
  'flaky list': '',
  'flaky get': id,
  'flaky quarantined': '',
  'flaky unhealthy': '',
  'flaky link': `${id} KAN-123`,
  'flaky report': '',
  'flaky match': 'junit.xml',
  'flaky gate': '--max 0',
  guard: '-- origin https://github.com/acme/web',
  api: 'getQueue --include',
  'auth login': '--with-token',
  'auth status': '',
  doctor: '',
}

const queueFile = 'repo: acme/web\ntargetBranch: main\nsettings:\n  concurrency: 3\n'

/** The files that these lines name. */
export const askingFiles = {
  '/repo/queue.yaml': queueFile,
  'queue.yaml': queueFile,
  'junit.xml':
    '<testsuite name="s"><testcase name="a" classname="b"><failure message="m">f</failure></testcase></testsuite>',
}
