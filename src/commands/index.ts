import type { CommandFile, CommandGroup } from '../command/command.ts'

/** A command: its word, and another one for it behind a space; and its file. */
type Row = readonly [words: string, load: CommandFile['load']]

const filesOf = (...rows: readonly Row[]): readonly CommandFile[] =>
  rows.map(([words, load]) => {
    const [name = '', alias] = words.split(' ')
    return { name, load, ...(alias === undefined ? {} : { alias }) }
  })

/** All groups of commands, and the commands without a group, in the order in which help lists them. */
export const commandGroups: readonly CommandGroup[] = [
  {
    name: 'pr',
    summary: 'Manage pull requests in a merge queue',
    commands: filesOf(
      ['submit', () => import('./pr/submit.ts')],
      ['cancel', () => import('./pr/cancel.ts')],
      ['restart', () => import('./pr/restart.ts')],
      ['get status', () => import('./pr/get.ts')],
      ['list', () => import('./pr/list.ts')],
      ['targets', () => import('./pr/targets.ts')],
      ['testing', () => import('./pr/testing.ts')],
      ['wait', () => import('./pr/wait.ts')],
      ['land', () => import('./pr/land.ts')],
      ['explain', () => import('./pr/explain.ts')],
    ),
  },
  {
    name: 'queue',
    summary: 'Manage merge queues',
    commands: filesOf(
      ['create', () => import('./queue/create.ts')],
      ['get', () => import('./queue/get.ts')],
      ['list', () => import('./queue/list.ts')],
      ['update', () => import('./queue/update.ts')],
      ['delete', () => import('./queue/delete.ts')],
      ['pause', () => import('./queue/pause.ts')],
      ['resume', () => import('./queue/resume.ts')],
      ['drain', () => import('./queue/drain.ts')],
      ['wait', () => import('./queue/wait.ts')],
      ['watch', () => import('./queue/watch.ts')],
      ['runs', () => import('./queue/runs.ts')],
      ['report', () => import('./queue/report.ts')],
      ['export', () => import('./queue/export.ts')],
      ['diff', () => import('./queue/diff.ts')],
      ['apply', () => import('./queue/apply.ts')],
      ['explain', () => import('./queue/explain.ts')],
      ['check', () => import('./queue/check.ts')],
    ),
  },
  {
    name: 'metrics',
    summary: 'Show merge queue metrics (Prometheus text format on a pipe)',
    isCommand: true,
    commands: filesOf(['', () => import('./metrics.ts')]),
  },
  {
    name: 'flaky',
    summary: 'Find and report failing and flaky tests',
    commands: filesOf(
      ['list', () => import('./flaky/list.ts')],
      ['get', () => import('./flaky/get.ts')],
      ['quarantined', () => import('./flaky/quarantined.ts')],
      ['unhealthy', () => import('./flaky/unhealthy.ts')],
      ['link', () => import('./flaky/link.ts')],
      ['report', () => import('./flaky/report.ts')],
      ['match', () => import('./flaky/match.ts')],
      ['gate', () => import('./flaky/gate.ts')],
    ),
  },
  {
    name: 'guard',
    summary: 'Block pushes to queued pull requests with a git hook',
    commands: filesOf(
      ['install', () => import('./guard/install.ts')],
      ['uninstall', () => import('./guard/uninstall.ts')],
      ['check', () => import('./guard/check.ts')],
      ['hook', () => import('./guard/hook.ts')],
    ),
  },
  {
    name: 'api',
    summary: 'Call any API operation and print the response unchanged',
    isCommand: true,
    commands: filesOf(['', () => import('./api.ts')]),
  },
  {
    name: 'auth',
    summary: 'Manage API tokens',
    commands: filesOf(
      ['login', () => import('./auth/login.ts')],
      ['logout', () => import('./auth/logout.ts')],
      ['status', () => import('./auth/status.ts')],
      ['list', () => import('./auth/list.ts')],
      ['token', () => import('./auth/token.ts')],
    ),
  },
  {
    name: 'config',
    summary: 'Manage settings',
    commands: filesOf(
      ['list', () => import('./config/list.ts')],
      ['get', () => import('./config/get.ts')],
      ['set', () => import('./config/set.ts')],
      ['unset', () => import('./config/unset.ts')],
      ['path', () => import('./config/path.ts')],
    ),
  },
  {
    name: 'doctor',
    summary: 'Check the setup and suggest fixes',
    isCommand: true,
    commands: filesOf(['', () => import('./doctor.ts')]),
  },
  {
    name: 'sandbox',
    summary: 'Run a local simulation of the service',
    commands: filesOf(
      ['start', () => import('./sandbox/start.ts')],
      ['exec', () => import('./sandbox/exec.ts')],
      ['shell', () => import('./sandbox/shell.ts')],
      ['tour', () => import('./sandbox/tour.ts')],
    ),
  },
  {
    name: 'completion',
    summary: 'Print a shell completion script',
    isCommand: true,
    commands: filesOf(['', () => import('./completion.ts')]),
  },
  {
    name: 'help',
    summary: 'Show help for a command or topic, or search all help',
    isCommand: true,
    commands: filesOf([
      '',
      async () => ({ definition: (await import('./help.ts')).helpCommand(commandGroups) }),
    ]),
  },
]
