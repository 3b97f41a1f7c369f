import type { CommandGroup } from '../command/command.ts'

/** All groups of commands, and the commands without a group, in the order in which help lists them. */
export const commandGroups: readonly CommandGroup[] = [
  {
    name: 'pr',
    summary: 'Manage pull requests in a merge queue',
    commands: [
      {
        name: 'submit',
        load: async () => (await import('./pr/submit.ts')).prSubmitCommand,
        habits: () => import('./pr/submit/habits.ts'),
      },
      {
        name: 'cancel',
        load: async () => (await import('./pr/cancel.ts')).prCancelCommand,
        habits: () => import('./pr/cancel/habits.ts'),
      },
      {
        name: 'restart',
        load: async () => (await import('./pr/restart.ts')).prRestartCommand,
        habits: () => import('./pr/restart/habits.ts'),
      },
      {
        name: 'get',
        alias: 'status',
        load: async () => (await import('./pr/get.ts')).prGetCommand,
        habits: () => import('./pr/get/habits.ts'),
      },
      {
        name: 'list',
        load: async () => (await import('./pr/list.ts')).prListCommand,
        habits: () => import('./pr/list/habits.ts'),
      },
      { name: 'targets', load: async () => (await import('./pr/targets.ts')).prTargetsCommand },
      {
        name: 'testing',
        load: async () => (await import('./pr/testing.ts')).prTestingCommand,
        habits: () => import('./pr/testing/habits.ts'),
      },
      {
        name: 'wait',
        load: async () => (await import('./pr/wait.ts')).prWaitCommand,
        habits: () => import('./pr/wait/habits.ts'),
      },
      { name: 'land', load: async () => (await import('./pr/land.ts')).prLandCommand },
      {
        name: 'explain',
        load: async () => (await import('./pr/explain.ts')).prExplainCommand,
        habits: () => import('./pr/explain/habits.ts'),
      },
    ],
  },
  {
    name: 'queue',
    summary: 'Manage merge queues',
    commands: [
      {
        name: 'create',
        load: async () => (await import('./queue/create.ts')).queueCreateCommand,
        habits: () => import('./queue/create/habits.ts'),
      },
      {
        name: 'get',
        load: async () => (await import('./queue/get.ts')).queueGetCommand,
        habits: () => import('./queue/get/habits.ts'),
      },
      {
        name: 'list',
        load: async () => (await import('./queue/list.ts')).queueListCommand,
        habits: () => import('./queue/list/habits.ts'),
      },
      {
        name: 'update',
        load: async () => (await import('./queue/update.ts')).queueUpdateCommand,
        habits: () => import('./queue/update/habits.ts'),
      },
      {
        name: 'delete',
        load: async () => (await import('./queue/delete.ts')).queueDeleteCommand,
        habits: () => import('./queue/delete/habits.ts'),
      },
      {
        name: 'pause',
        load: async () => (await import('./queue/pause.ts')).queuePauseCommand,
        habits: () => import('./queue/pause/habits.ts'),
      },
      {
        name: 'resume',
        load: async () => (await import('./queue/resume.ts')).queueResumeCommand,
        habits: () => import('./queue/resume/habits.ts'),
      },
      {
        name: 'drain',
        load: async () => (await import('./queue/drain.ts')).queueDrainCommand,
        habits: () => import('./queue/drain/habits.ts'),
      },
      { name: 'wait', load: async () => (await import('./queue/wait.ts')).queueWaitCommand },
      {
        name: 'watch',
        load: async () => (await import('./queue/watch.ts')).queueWatchCommand,
        habits: () => import('./queue/watch/habits.ts'),
      },
      {
        name: 'runs',
        load: async () => (await import('./queue/runs.ts')).queueRunsCommand,
        habits: () => import('./queue/runs/habits.ts'),
      },
      {
        name: 'report',
        load: async () => (await import('./queue/report.ts')).queueReportCommand,
        habits: () => import('./queue/report/habits.ts'),
      },
      {
        name: 'export',
        load: async () => (await import('./queue/export.ts')).queueExportCommand,
        habits: () => import('./queue/export/habits.ts'),
      },
      {
        name: 'diff',
        load: async () => (await import('./queue/diff.ts')).queueDiffCommand,
        habits: () => import('./queue/diff/habits.ts'),
      },
      {
        name: 'apply',
        load: async () => (await import('./queue/apply.ts')).queueApplyCommand,
        habits: () => import('./queue/apply/habits.ts'),
      },
      {
        name: 'explain',
        load: async () => (await import('./queue/explain.ts')).queueExplainCommand,
        habits: () => import('./queue/explain/habits.ts'),
      },
      {
        name: 'check',
        load: async () => (await import('./queue/check.ts')).queueCheckCommand,
        habits: () => import('./queue/check/habits.ts'),
      },
    ],
  },
  {
    name: 'metrics',
    summary: 'Show merge queue metrics (Prometheus text format on a pipe)',
    isCommand: true,
    commands: [
      {
        name: '',
        load: async () => (await import('./metrics.ts')).metricsCommand,
        habits: () => import('./metrics/habits.ts'),
      },
    ],
  },
  {
    name: 'flaky',
    summary: 'Find and report failing and flaky tests',
    commands: [
      {
        name: 'list',
        load: async () => (await import('./flaky/list.ts')).flakyListCommand,
        habits: () => import('./flaky/list/habits.ts'),
      },
      {
        name: 'get',
        load: async () => (await import('./flaky/get.ts')).flakyGetCommand,
        habits: () => import('./flaky/get/habits.ts'),
      },
      {
        name: 'quarantined',
        load: async () => (await import('./flaky/quarantined.ts')).flakyQuarantinedCommand,
      },
      {
        name: 'unhealthy',
        load: async () => (await import('./flaky/unhealthy.ts')).flakyUnhealthyCommand,
        habits: () => import('./flaky/unhealthy/habits.ts'),
      },
      {
        name: 'link',
        load: async () => (await import('./flaky/link.ts')).flakyLinkCommand,
        habits: () => import('./flaky/link/habits.ts'),
      },
      { name: 'report', load: async () => (await import('./flaky/report.ts')).flakyReportCommand },
      {
        name: 'match',
        load: async () => (await import('./flaky/match.ts')).flakyMatchCommand,
        habits: () => import('./flaky/match/habits.ts'),
      },
      { name: 'gate', load: async () => (await import('./flaky/gate.ts')).flakyGateCommand },
    ],
  },
  {
    name: 'guard',
    summary: 'Block pushes to queued pull requests with a git hook',
    commands: [
      {
        name: 'install',
        load: async () => (await import('./guard/install.ts')).guardInstallCommand,
        habits: () => import('./guard/install/habits.ts'),
      },
      {
        name: 'uninstall',
        load: async () => (await import('./guard/uninstall.ts')).guardUninstallCommand,
        habits: () => import('./guard/uninstall/habits.ts'),
      },
      {
        name: 'check',
        load: async () => (await import('./guard/check.ts')).guardCheckCommand,
        habits: () => import('./guard/check/habits.ts'),
      },
      { name: 'hook', load: async () => (await import('./guard/hook.ts')).guardHookCommand },
    ],
  },
  {
    name: 'api',
    summary: 'Call any API operation and print the response unchanged',
    isCommand: true,
    commands: [
      {
        name: '',
        load: async () => (await import('./api.ts')).apiCommand,
        habits: () => import('./api/habits.ts'),
      },
    ],
  },
  {
    name: 'auth',
    summary: 'Manage API tokens',
    commands: [
      {
        name: 'login',
        load: async () => (await import('./auth/login.ts')).authLoginCommand,
        habits: () => import('./auth/login/habits.ts'),
      },
      {
        name: 'logout',
        load: async () => (await import('./auth/logout.ts')).authLogoutCommand,
        habits: () => import('./auth/logout/habits.ts'),
      },
      {
        name: 'status',
        load: async () => (await import('./auth/status.ts')).authStatusCommand,
        habits: () => import('./auth/status/habits.ts'),
      },
      {
        name: 'list',
        load: async () => (await import('./auth/list.ts')).authListCommand,
        habits: () => import('./auth/list/habits.ts'),
      },
      { name: 'token', load: async () => (await import('./auth/token.ts')).authTokenCommand },
    ],
  },
  {
    name: 'config',
    summary: 'Manage settings',
    commands: [
      {
        name: 'list',
        load: async () => (await import('./config/list.ts')).configListCommand,
        habits: () => import('./config/list/habits.ts'),
      },
      {
        name: 'get',
        load: async () => (await import('./config/get.ts')).configGetCommand,
        habits: () => import('./config/get/habits.ts'),
      },
      {
        name: 'set',
        load: async () => (await import('./config/set.ts')).configSetCommand,
        habits: () => import('./config/set/habits.ts'),
      },
      {
        name: 'unset',
        load: async () => (await import('./config/unset.ts')).configUnsetCommand,
        habits: () => import('./config/unset/habits.ts'),
      },
      {
        name: 'path',
        load: async () => (await import('./config/path.ts')).configPathCommand,
        habits: () => import('./config/path/habits.ts'),
      },
    ],
  },
  {
    name: 'doctor',
    summary: 'Check the setup and suggest fixes',
    isCommand: true,
    commands: [
      {
        name: '',
        load: async () => (await import('./doctor.ts')).doctorCommand,
        habits: () => import('./doctor/habits.ts'),
      },
    ],
  },
  {
    name: 'sandbox',
    summary: 'Run a local simulation of the service',
    commands: [
      {
        name: 'start',
        load: async () => (await import('./sandbox/start.ts')).sandboxStartCommand,
        habits: () => import('./sandbox/start/habits.ts'),
      },
      {
        name: 'exec',
        load: async () => (await import('./sandbox/exec.ts')).sandboxExecCommand,
        habits: () => import('./sandbox/exec/habits.ts'),
      },
      { name: 'shell', load: async () => (await import('./sandbox/shell.ts')).sandboxShellCommand },
      {
        name: 'tour',
        load: async () => (await import('./sandbox/tour.ts')).sandboxTourCommand,
        habits: () => import('./sandbox/tour/habits.ts'),
      },
    ],
  },
  {
    name: 'completion',
    summary: 'Print a shell completion script',
    isCommand: true,
    commands: [
      {
        name: '',
        load: async () => (await import('./completion.ts')).completionCommand,
        habits: () => import('./completion/habits.ts'),
      },
    ],
  },
  {
    name: 'help',
    summary: 'Show help for a command or topic, or search all help',
    isCommand: true,
    commands: [
      {
        name: '',
        load: async () => (await import('./help.ts')).helpCommand(commandGroups),
        habits: () => import('./help/habits.ts'),
      },
    ],
  },
]
