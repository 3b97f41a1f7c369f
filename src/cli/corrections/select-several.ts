import { globalOptions, queueOptionNames } from '../global-options.ts'
import { formatCommandLine } from './command-line.ts'

/** The commands that take several pull requests and change them, or wait for them. */
const commands = ['pr submit', 'pr cancel', 'pr restart', 'pr wait']

const queueOptions = globalOptions.filter(({ name }) => queueOptionNames.includes(name))

const queueOptionsIn = (argv: readonly string[]): readonly string[] =>
  argv.flatMap((word, index) =>
    queueOptions.some(({ name, short }) => word === name || word === short)
      ? argv.slice(index, index + 2)
      : queueOptions.some(({ name }) => word.startsWith(`${name}=`))
        ? [word]
        : [],
  )

/**
 * Returns the hint for an unknown option that selects pull requests, such as `--all` or `--author`: the
 * command line that lists their numbers, piped into the command. Undefined for another option or command, and
 * if the command line must not be repeated.
 *
 * @param value the value of the option; undefined if none was typed
 */
export function hintForSelection(
  option: string,
  value: string | undefined,
  command: string,
  argv: readonly string[],
): string | undefined {
  if (!commands.includes(command) || !/^--(?:all|mine|author|failed)$/.test(option)) return undefined
  const place = queueOptionsIn(argv)
  const list = (...words: readonly string[]) => formatCommandLine([...words, ...place, '--fields', 'pr'])
  const states = ['not-ready', 'pending', 'testing'].flatMap(state => ['--state', state])
  const source =
    option === '--failed'
      ? list('pr', 'list', '--state', 'failed', '--since', '24h')
      : command === 'pr submit'
        ? `gh pr list${option === '--all' ? '' : ' --author @me'} --json number --jq '.[].number'`
        : option === '--all'
          ? list('queue', 'get')
          : list('pr', 'list', ...states, '--author', value ?? 'NAME')
  const target = formatCommandLine([
    ...command.split(' '),
    '-',
    ...place,
    ...(command === 'pr cancel' ? ['--yes'] : []),
  ])
  return source === undefined || target === undefined
    ? undefined
    : `To select pull requests, pipe their numbers: ${source} | ${target}`
}
