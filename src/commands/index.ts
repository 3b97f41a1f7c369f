import type { CommandGroup } from '../cli/registered-command.ts'

/** All groups of commands, and the commands without a group, in the order in which help lists them. */
export const commandGroups: readonly CommandGroup[] = [
  {
    name: 'pr',
    summary: 'Pull requests in a merge queue',
    load: async () => (await import('./pr/index.ts')).prCommands,
  },
  {
    name: 'queue',
    summary: 'Merge queues',
    load: async () => (await import('./queue/index.ts')).queueCommands,
  },
  {
    name: 'metrics',
    summary: 'Print the metrics of merge queues in the Prometheus text format',
    isCommand: true,
    load: async () => (await import('./metrics/index.ts')).metricsCommands,
  },
  {
    name: 'flaky',
    summary: 'Failing and flaky tests',
    load: async () => (await import('./flaky/index.ts')).flakyCommands,
  },
  {
    name: 'guard',
    summary: 'Keep a push from taking a pull request out of the queue: a git pre-push hook',
    isCommand: true,
    load: async () => [(await import('./guard.ts')).guardCommand],
  },
  {
    name: 'api',
    summary: 'Call any API operation and print the response unchanged',
    isCommand: true,
    load: async () => [(await import('./api.ts')).apiCommand],
  },
  {
    name: 'auth',
    summary: 'The token',
    load: async () => (await import('./auth/index.ts')).authCommands,
  },
  {
    name: 'config',
    summary: 'Stored settings',
    load: async () => (await import('./config/index.ts')).configCommands,
  },
  {
    name: 'doctor',
    summary: 'Check token, base address, network, clock, git and CI, and say how to mend what is wrong',
    isCommand: true,
    load: async () => [(await import('./doctor.ts')).doctorCommand],
  },
  {
    name: 'sandbox',
    summary: 'A local service to try things on',
    load: async () => (await import('./sandbox/index.ts')).sandboxCommands,
  },
  {
    name: 'completion',
    summary: 'Print the completion script of a shell',
    isCommand: true,
    load: async () => [(await import('./completion.ts')).completionCommand],
  },
  {
    name: 'help',
    summary: 'Print the help of a command, or a topic',
    isCommand: true,
    load: async () => [(await import('./help.ts')).helpCommand],
  },
]
