/** Violations of the structure rules that are still in the source, by rule. */
export const knownViolations: Readonly<Record<string, readonly string[]>> = {
  'every file imports only what the table permits': [
    'library/create-client.ts imports cli/command.ts (type)',
    'library/create-client.ts imports cli/context.ts (value)',
    'library/create-client.ts imports cli/prelude.ts (value)',
    'library/create-client.ts imports output/redactor.ts (value)',
    'library/declarations.ts imports cli/command.ts (type)',
    'library/method-options.ts imports cli/command.ts (type)',
    'library/method-options.ts imports cli/global-options.ts (value)',
    'library/method-options.ts imports cli/inputs.ts (value)',
    'library/operation-commands.ts imports cli/command.ts (type)',
    'library/operation-commands.ts imports commands/flaky/get.ts (value)',
    'library/operation-commands.ts imports commands/flaky/list.ts (value)',
    'library/operation-commands.ts imports commands/metrics.ts (value)',
    'library/operation-commands.ts imports commands/pr/cancel.ts (value)',
    'library/operation-commands.ts imports commands/pr/get.ts (value)',
    'library/operation-commands.ts imports commands/pr/restart.ts (value)',
    'library/operation-commands.ts imports commands/pr/submit.ts (value)',
    'library/operation-commands.ts imports commands/pr/targets.ts (value)',
    'library/operation-commands.ts imports commands/pr/testing.ts (value)',
    'library/operation-commands.ts imports commands/queue/create.ts (value)',
    'library/operation-commands.ts imports commands/queue/delete.ts (value)',
    'library/operation-commands.ts imports commands/queue/get.ts (value)',
    'library/operation-commands.ts imports commands/queue/update.ts (value)',
  ],
  'every file does not name an operation in a generic directory': [
    'cli/queue-setting-options.ts names updateQueue',
  ],
  'every file has at most 250 lines': ['config/git.ts has 258 lines', 'output/table.ts has 272 lines'],
  'every file has comments of at most 110 columns': [
    'library/declarations.ts has a comment over 110 columns',
  ],
}
