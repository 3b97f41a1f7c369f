/** What the first word of a command stands for. */
export const groups: Readonly<Record<string, string>> = {
  pr: 'Pull requests in a merge queue',
  queue: 'Merge queues',
  flaky: 'Failing and flaky tests',
  auth: 'The token',
  config: 'Stored settings',
  sandbox: 'A local service to try things on',
}
