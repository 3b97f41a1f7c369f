import { endings } from '../failure.ts'

/** The exit codes as a Markdown table: what the README shows. */
export const exitCodeTable = (): string =>
  [
    '| code | kind | when |',
    '|---|---|---|',
    ...endings.map(({ code, kind, when }) => `| ${code} | ${kind} | ${when} |`),
    '',
  ].join('\n')

/** The exit codes for a terminal. */
export const exitCodes = (): string =>
  endings.map(({ code, kind, when }) => `${String(code).padStart(3)}  ${kind.padEnd(15)}  ${when}\n`).join('')
