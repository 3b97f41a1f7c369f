import { sanitizeLine } from '../../output/sanitize.ts'

/** A sandbox as `--dry-run` names it: where it would listen, and what it would play. */
export const sandboxText = (
  {
    scenario = 'happy',
    dialect,
  }: { readonly scenario?: string | undefined; readonly dialect?: string | undefined },
  port?: number,
): string =>
  [
    `a sandbox on ${port === undefined ? 'a free port of loopback' : `port ${port} of loopback`}`,
    `scenario ${sanitizeLine(scenario)}`,
    ...(dialect === undefined ? [] : [`dialect ${dialect}`]),
  ].join(', ')
