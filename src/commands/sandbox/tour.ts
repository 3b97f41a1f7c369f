import { sandboxNote } from '../../api/send.ts'
import { command } from '../../command/command.ts'
import { sandboxOptions, useSandbox } from './shared/open-sandbox.ts'

interface TourStep {
  /** The comment above the command; none if empty. */
  readonly comment: string
  /** The command line without `mergeq`; words are separated by single spaces. */
  readonly commandLine: string
  /** On a pipe, only output lines that contain this text are shown. */
  readonly grep?: string
}

const tourSteps: readonly TourStep[] = [
  {
    comment: 'Show a queue: one pull request is tested, two wait.',
    commandLine: 'queue get --target-branch main',
  },
  {
    comment: 'Create a merge queue for the release branch.',
    commandLine: 'queue create --target-branch release',
  },
  { comment: 'Submit two pull requests.', commandLine: 'pr submit 101 103 --priority high' },
  {
    comment: 'Wait until the first pull request is merged. The exit code is the result.',
    commandLine: 'pr wait 101 --interval 1s',
  },
  { comment: 'Wait for the second pull request, then show both.', commandLine: 'pr wait 103 --interval 1s' },
  { comment: '', commandLine: 'pr get 101 103' },
  { comment: 'Print a pull request as JSON, for a script.', commandLine: 'pr get 101 --json' },
  {
    comment: 'List the tests that failed in the last 24 hours, highest impact first.',
    commandLine: 'flaky list --sort impact --limit 5',
  },
  {
    comment: 'Show the metrics of the queue.',
    commandLine: 'metrics --target-branch release',
    grep: '_total{repo="acme/web",branch="release",queue_type="main"',
  },
]

/** They stay where they are until the tour submits its own, whatever the speed. */
const held = [97, 98, 99]

const formatStep = ({ comment, commandLine, grep }: TourStep): string =>
  `${comment === '' ? '' : `# ${comment}\n`}$ mergeq ${commandLine}${grep === undefined ? '' : ` | grep '${grep}'`}\n`

function filterLines(search: string, text: string | Uint8Array): string {
  const decoded = typeof text === 'string' ? text : new TextDecoder().decode(text)
  const kept = decoded.split('\n').filter(line => line.includes(search))
  return kept.map(line => `${line}\n`).join('')
}

export const definition = command({
  name: 'sandbox tour',
  summary: 'Run a demo: create a queue, merge a pull request, read tests and metrics',
  settings: 'optional',
  prints: 'each command and its output',
  options: sandboxOptions,
  examples: ['mergeq sandbox tour', 'mergeq sandbox tour --speed 4'],
  async run(values, cli) {
    const { err, out } = cli.host
    // On a terminal `metrics` prints a summary, which is shown whole.
    const steps = out.terminal
      ? tourSteps.map(({ comment, commandLine }): TourStep => ({ comment, commandLine }))
      : tourSteps
    if (cli.options.dryRun) {
      for (const step of steps) await out.write(formatStep(step))
      return 0
    }
    return useSandbox({ ...values, held }, cli.host, async sandbox => {
      const environment = { ...sandbox.environment, MERGEQ_TARGET_BRANCH: 'release' }
      for (const step of steps) {
        const { commandLine, grep } = step
        await out.write(formatStep(step))
        const code = await cli.runCommandLine(commandLine.split(' '), environment, {
          out: text => out.write(grep === undefined ? text : filterLines(grep, text)),
          // The tour prints this note itself, once, at the end.
          err: async text => (text === `${sandboxNote}\n` ? undefined : err.write(text)),
        })
        await out.write('\n')
        if (code !== 0) return code
      }
      await out.write(
        'This was a sandbox: no real queue was changed.\nTo use your own queue, run: mergeq auth login\n',
      )
      return 0
    })
  },
})
