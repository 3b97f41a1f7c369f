import type { WriteRecovery } from './operation.ts'

/** Returns a rule by its name. The rules are loaded only when a change got no response. */
export const recoveryRule =
  (name: keyof typeof import('./recovery-rules.ts')): WriteRecovery['inspect'] =>
  async evidence =>
    (await import('./recovery-rules.ts'))[name](evidence)
