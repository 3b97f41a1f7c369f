import { type Answer, mergeq, type Seen, type Setting } from './harness.ts'

const env = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main' }
export const numberIn = ({ body }: Pick<Seen, 'body'>): number => JSON.parse(body).pr?.number
export const numbersIn = (requests: readonly Seen[]): readonly number[] => requests.map(numberIn)

export const run = (line: string, answer: (seen: Seen) => Answer | Promise<Answer>, setting: Setting = {}) =>
  mergeq(line, { ...setting, env: { ...env, ...setting.env }, answer })

export const documentsIn = (out: string) =>
  out
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line))
