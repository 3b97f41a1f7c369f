import type { JsonObject } from '../../src/base/json.ts'
import { type Answer, mergeq, type Outcome, type Seen, type Setting } from './harness.ts'

/** Answers by the name of the operation; a function sees the body that was sent. */
export type Answers = Readonly<Record<string, Answer | ((body: JsonObject) => Answer)>>

export const json = (body: unknown): Answer => ({ body: JSON.stringify(body) })
export const nameOf = ({ path }: Pick<Seen, 'path'>) => path.replace(/^[^?]*\/|\?.*/g, '')

const service =
  (answers: Answers) =>
  (seen: Seen): Answer => {
    const answer = answers[nameOf(seen)] ?? { status: 404, body: 'Not Found' }
    return typeof answer === 'function' ? answer(JSON.parse(seen.body)) : answer
  }

/** Runs a command line against a service with these answers. */
export const run = (line: string, answers: Answers, setting: Setting = {}) =>
  mergeq(line, { answer: service(answers), ...setting })
export const namesOf = ({ requests }: Outcome) => requests.map(nameOf)
