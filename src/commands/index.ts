import type { CommandFile, CommandGroup } from '../command/command.ts'

/** A command: its word, and another one for it behind a space; its file; and what people type who know others. */
type Row = readonly [words: string, load: CommandFile['load'], habits?: CommandFile['habits']]

const filesOf = (...rows: readonly Row[]): readonly CommandFile[] =>
  rows.map(([words, load, habits]) => {
    const [name = '', alias] = words.split(' ')
    return { name, load, ...(alias === undefined ? {} : { alias }), ...(habits && { habits }) }
  })

/** All groups of commands, and the commands without a group, in the order in which help lists them. */
export const commandGroups: readonly CommandGroup[] = [
  {
    name: 'pr',
    summary: 'Manage pull requests in a merge queue',
    commands: filesOf(
      ['submit', () => import('./pr/submit.ts'), () => import('./pr/submit/habits.ts')],
      ['cancel', () => import('./pr/cancel.ts'), () => import('./pr/cancel/habits.ts')],
      ['restart', () => import('./pr/restart.ts'), () => import('./pr/restart/habits.ts')],
      ['get status', () => import('./pr/get.ts'), () => import('./pr/get/habits.ts')],
      ['list', () => import('./pr/list.ts'), () => import('./pr/list/habits.ts')],
      ['targets', () => import('./pr/targets.ts')],
      ['testing', () => import('./pr/testing.ts'), () => import('./pr/testing/habits.ts')],
      ['wait', () => import('./pr/wait.ts'), () => import('./pr/wait/habits.ts')],
      ['land', () => import('./pr/land.ts')],
      ['explain', () => import('./pr/explain.ts'), () => import('./pr/explain/habits.ts')],
    ),
  },
  {
    name: 'queue',
    summary: 'Manage merge queues',
    commands: filesOf(
      ['create', () => import('./queue/create.ts'), () => import('./queue/create/habits.ts')],
      ['get', () => import('./queue/get.ts'), () => import('./queue/get/habits.ts')],
      ['list', () => import('./queue/list.ts'), () => import('./queue/list/habits.ts')],
      ['update', () => import('./queue/update.ts'), () => import('./queue/update/habits.ts')],
      ['delete', () => import('./queue/delete.ts'), () => import('./queue/delete/habits.ts')],
      ['pause', () => import('./queue/pause.ts'), () => import('./queue/pause/habits.ts')],
      ['resume', () => import('./queue/resume.ts'), () => import('./queue/resume/habits.ts')],
      ['drain', () => import('./queue/drain.ts'), () => import('./queue/drain/habits.ts')],
      ['wait', () => import('./queue/wait.ts')],
      ['watch', () => import('./queue/watch.ts'), () => import('./queue/watch/habits.ts')],
      ['runs', () => import('./queue/runs.ts'), () => import('./queue/runs/habits.ts')],
      ['report', () => import('./queue/report.ts'), () => import('./queue/report/habits.ts')],
      ['export', () => import('./queue/export.ts'), () => import('./queue/export/habits.ts')],
      ['diff', () => import('./queue/diff.ts'), () => import('./queue/diff/habits.ts')],
      ['apply', () => import('./queue/apply.ts'), () => import('./queue/apply/habits.ts')],
      ['explain', () => import('./queue/explain.ts'), () => import('./queue/explain/habits.ts')],
      ['check', () => import('./queue/check.ts'), () => import('./queue/check/habits.ts')],
    ),
  },
  {
    name: 'metrics',
    summary: 'Show merge queue metrics (Prometheus text format on a pipe)',
    isCommand: true,
    commands: filesOf(['', () => import('./metrics.ts'), () => import('./metrics/habits.ts')]),
  },
  {
    name: 'flaky',
    summary: 'Find and report failing and flaky tests',
    commands: filesOf(
      ['list', () => import('./flaky/list.ts'), () => import('./flaky/list/habits.ts')],
      ['get', () => import('./flaky/get.ts'), () => import('./flaky/get/habits.ts')],
      ['quarantined', () => import('./flaky/quarantined.ts')],
      ['unhealthy', () => import('./flaky/unhealthy.ts'), () => import('./flaky/unhealthy/habits.ts')],
      ['link', () => import('./flaky/link.ts'), () => import('./flaky/link/habits.ts')],
      ['report', () => import('./flaky/report.ts')],
      ['match', () => import('./flaky/match.ts'), () => import('./flaky/match/habits.ts')],
      ['gate', () => import('./flaky/gate.ts')],
    ),
  },
  {
    name: 'guard',
    summary: 'Block pushes to queued pull requests with a git hook',
    commands: filesOf(
      ['install', () => import('./guard/install.ts'), () => import('./guard/install/habits.ts')],
      ['uninstall', () => import('./guard/uninstall.ts'), () => import('./guard/uninstall/habits.ts')],
      ['check', () => import('./guard/check.ts'), () => import('./guard/check/habits.ts')],
      ['hook', () => import('./guard/hook.ts')],
    ),
  },
  {
    name: 'api',
    summary: 'Call any API operation and print the response unchanged',
    isCommand: true,
    commands: filesOf(['', () => import('./api.ts'), () => import('./api/habits.ts')]),
  },
  {
    name: 'auth',
    summary: 'Manage API tokens',
    commands: filesOf(
      ['login', () => import('./auth/login.ts'), () => import('./auth/login/habits.ts')],
      ['logout', () => import('./auth/logout.ts'), () => import('./auth/logout/habits.ts')],
      ['status', () => import('./auth/status.ts'), () => import('./auth/status/habits.ts')],
      ['list', () => import('./auth/list.ts'), () => import('./auth/list/habits.ts')],
      ['token', () => import('./auth/token.ts')],
    ),
  },
  {
    name: 'config',
    summary: 'Manage settings',
    commands: filesOf(
      ['list', () => import('./config/list.ts'), () => import('./config/list/habits.ts')],
      ['get', () => import('./config/get.ts'), () => import('./config/get/habits.ts')],
      ['set', () => import('./config/set.ts'), () => import('./config/set/habits.ts')],
      ['unset', () => import('./config/unset.ts'), () => import('./config/unset/habits.ts')],
      ['path', () => import('./config/path.ts'), () => import('./config/path/habits.ts')],
    ),
  },
  {
    name: 'doctor',
    summary: 'Check the setup and suggest fixes',
    isCommand: true,
    commands: filesOf(['', () => import('./doctor.ts'), () => import('./doctor/habits.ts')]),
  },
  {
    name: 'sandbox',
    summary: 'Run a local simulation of the service',
    commands: filesOf(
      ['start', () => import('./sandbox/start.ts'), () => import('./sandbox/start/habits.ts')],
      ['exec', () => import('./sandbox/exec.ts'), () => import('./sandbox/exec/habits.ts')],
      ['shell', () => import('./sandbox/shell.ts')],
      ['tour', () => import('./sandbox/tour.ts'), () => import('./sandbox/tour/habits.ts')],
    ),
  },
  {
    name: 'completion',
    summary: 'Print a shell completion script',
    isCommand: true,
    commands: filesOf(['', () => import('./completion.ts'), () => import('./completion/habits.ts')]),
  },
  {
    name: 'help',
    summary: 'Show help for a command or topic, or search all help',
    isCommand: true,
    commands: filesOf([
      '',
      async () => ({ definition: (await import('./help.ts')).helpCommand(commandGroups) }),
      () => import('./help/habits.ts'),
    ]),
  },
]
