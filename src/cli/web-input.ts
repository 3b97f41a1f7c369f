import { flag } from './inputs.ts'

/** The option `--web`, which opens the page of the result instead of printing it. */
export const webInput = flag({ name: 'web', summary: 'Open the page in the browser instead of printing' })
