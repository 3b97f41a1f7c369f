import type { Outcome } from './harness.ts'

export const day = 86_400_000
export const ids = ({ out }: Pick<Outcome, 'out'>) =>
  out
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line).id)
