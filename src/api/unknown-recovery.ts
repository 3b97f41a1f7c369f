import type { WriteRecovery } from './operation.ts'

/** For a change of an unknown operation: it is never read back or sent again. */
export const unknownRecovery: WriteRecovery = {
  replay: 'never',
  inspectCommand: '',
  inspect: () => 'unclear',
}
