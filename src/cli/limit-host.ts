// The time limit of what a command does besides its requests: git, standard input, prompts, and the programs of the user.
import { limitPrograms, timeIsOver, type WaitTime } from '../api/wait-time.ts'
import { usageError, withName } from '../base/errors.ts'
import type { ParsedArgs } from '../config/settings.ts'
import type { Host, InputLimit } from '../host/host.ts'
import { maxTimerDelay, parseDuration } from '../values/time.ts'

/** Returns the host whose programs, input and prompts have what is left of the time, or the typed `--timeout`. */
export function limitHost(host: Host, time: WaitTime | undefined, args: ParsedArgs): Host {
  const [typed = '0'] = args.get('--timeout') ?? []
  const left = time?.left() ?? (withName('--timeout', () => parseDuration(typed)) || Number.POSITIVE_INFINITY)
  if (left === Number.POSITIVE_INFINITY) return host
  const over = () =>
    time === undefined
      ? usageError(`The input was not complete after ${typed} (--timeout).`, 'Nothing was sent.')
      : timeIsOver('the input was complete')
  const limit = (): InputLimit => ({ time: Math.min(time?.left() ?? left, maxTimerDelay), over })
  const { input } = host
  const limited: Host = {
    ...host,
    input: Object.assign(Object.create(input), {
      read: () => input.read(limit()),
      ask: (question: string, hidden?: boolean) => input.ask(question, hidden, limit()),
    }),
    runProgram: (program, words, options) =>
      host.runProgram(
        program,
        words,
        options.output === undefined ? options : { ...options, limit: limit() },
      ),
    git: (words, options) => host.git(words, { ...options, timeout: left }),
  }
  return time === undefined ? limited : limitPrograms({ ...limited, git: host.git }, time)
}
