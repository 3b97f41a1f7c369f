import { flag } from './inputs.ts'

export const webInput = flag({ name: 'web', summary: 'Open the page in the browser instead of printing' })
