import type { CommandGroup } from '../run/command.ts'

/** All groups of commands, and the commands without a group, in the order in which help lists them. */
export const commandGroups: readonly CommandGroup[] = [
  {
    name: 'pr',
    summary: 'Manage pull requests in a merge queue',
    load: async () => (await import('./pr/index.ts')).prCommands,
  },
  {
    name: 'queue',
    summary: 'Manage merge queues',
    load: async () => (await import('./queue/index.ts')).queueCommands,
  },
  {
    name: 'metrics',
    summary: 'Show merge queue metrics (Prometheus text format on a pipe)',
    isCommand: true,
    load: async () => [(await import('./metrics.ts')).metricsCommand],
  },
  {
    name: 'flaky',
    summary: 'Find and report failing and flaky tests',
    load: async () => (await import('./flaky/index.ts')).flakyCommands,
  },
  {
    name: 'guard',
    summary: 'Git pre-push hook that blocks pushes to queued pull requests',
    isCommand: true,
    load: async () => [(await import('./guard/index.ts')).guardCommand],
  },
  {
    name: 'api',
    summary: 'Call any API operation and print the response unchanged',
    isCommand: true,
    load: async () => [(await import('./api.ts')).apiCommand],
  },
  {
    name: 'auth',
    summary: 'Manage API tokens',
    load: async () => (await import('./auth/index.ts')).authCommands,
  },
  {
    name: 'config',
    summary: 'Manage settings',
    load: async () => (await import('./config/index.ts')).configCommands,
  },
  {
    name: 'doctor',
    summary: 'Check the setup and suggest fixes',
    isCommand: true,
    load: async () => [(await import('./doctor.ts')).doctorCommand],
  },
  {
    name: 'sandbox',
    summary: 'Run a local simulation of the service',
    load: async () => (await import('./sandbox/index.ts')).sandboxCommands,
  },
  {
    name: 'completion',
    summary: 'Print a shell completion script',
    isCommand: true,
    load: async () => [(await import('./completion.ts')).completionCommand],
  },
  {
    name: 'help',
    summary: 'Show help for a command or topic',
    isCommand: true,
    load: async () => [(await import('./help.ts')).helpCommand(commandGroups)],
  },
]
