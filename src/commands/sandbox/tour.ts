import { type CommandRunner, defineCommand } from '../../cli/command.ts'
import { sandboxNote } from '../../cli/context.ts'
import { open, playFields } from './start-options.ts'

interface Step {
  readonly why: string
  readonly line: string
  readonly keep?: string
}

/** A step as the tour shows it: why, and the command line. */
const stepText = ({ why, line, keep }: Step): string =>
  `${why === '' ? '' : `# ${why}\n`}$ mergeq ${line}${keep === undefined ? '' : ` | grep '${keep}'`}\n`

/** What a newcomer would do, in order: `| grep` keeps the lines that hold a word. */
const tourSteps: readonly Step[] = [
  {
    why: 'Create a merge queue for the branch release.',
    line: 'queue create --target-branch release',
  },
  { why: 'Submit two pull requests.', line: 'pr submit 101 102 --priority high' },
  {
    why: 'Wait until the first has merged: the exit code tells how it ended.',
    line: 'pr wait 101 --interval 1s',
  },
  { why: 'What is in the queue now?', line: 'queue get' },
  { why: 'Wait for the second, and see where both stand.', line: 'pr wait 102 --interval 1s' },
  { why: '', line: 'pr get 101 102' },
  { why: 'The same for a script.', line: 'pr get 101 --json' },
  {
    why: 'Which tests failed today, worst first?',
    line: 'flaky list --since 24h --sort impact --limit 5 --fields name,failure_rate_last_7d,codeowners',
  },
  {
    why: 'And what does the queue measure?',
    line: 'metrics',
    keep: '_total{repo="acme/web",branch="release",queue_type="main"',
  },
]

export const sandboxTourCommand = defineCommand({
  command: 'sandbox tour',
  summary: 'See the main job done: from a new queue to a merge, failing tests and metrics',
  output: 'each command, and what it printed',
  inputs: playFields,
  examples: ['mergeq sandbox tour', 'mergeq sandbox tour --speed 4'],
  async run(values, context, runner: CommandRunner) {
    const { err, out } = context.host
    if (context.options.dryRun) {
      for (const step of tourSteps) await out.write(stepText(step))
      return 0
    }
    const sandbox = await open(values, undefined, context)
    const toured = { ...sandbox.environment, MERGEQ_TARGET_BRANCH: 'release' }
    try {
      for (const step of tourSteps) {
        const { line, keep } = step
        await out.write(stepText(step))
        const code = await runner(line.split(' '), toured, {
          terminal: out.terminal && keep === undefined,
          out: text => out.write(keep === undefined ? text : linesWith(keep, text)),
          // Said once for the whole tour, at its end.
          err: async text => (text === `${sandboxNote}\n` ? undefined : err.write(text)),
        })
        await out.write('\n')
        if (code !== 0) return code
      }
      await out.write(
        'That was a sandbox: nothing in it was real. For the real thing set MERGEQ_TOKEN, and see `mergeq --help`.\n',
      )
      return 0
    } finally {
      await sandbox.close()
    }
  },
})

function linesWith(word: string, text: string | Uint8Array): string {
  const whole = typeof text === 'string' ? text : new TextDecoder().decode(text)
  const kept = whole.split('\n').filter(line => line.includes(word))
  return kept.map(line => `${line}\n`).join('')
}
