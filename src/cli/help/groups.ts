/** The groups of commands, by the first word of their commands, each with a summary. */
export const groups: Readonly<Record<string, string>> = {
  pr: 'Pull requests in a merge queue',
  queue: 'Merge queues',
  flaky: 'Failing and flaky tests',
  auth: 'The token',
  config: 'Stored settings',
  sandbox: 'A local service to try things on',
}
