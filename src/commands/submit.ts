import { on } from '../contract/field.ts'
import { submit } from '../contract/pulls.ts'
import { run } from '../run.ts'
import { command } from './command.ts'
import { waitFields, waitForAll } from './wait.ts'

/** `pr submit`, which with --wait goes on as `pr wait`. */
export const submitAndWait = command({
  ...submit,
  on: submit,
  fields: { wait: on('--wait', 'Wait until it has merged, failed or been cancelled'), ...waitFields },
  async run({ wait, interval }, desk) {
    if (!wait || desk.options.dryRun) return run(submit, desk)
    // The answer of a wait is its result: receipts of the submission would be a second document.
    const silent = { print: async () => undefined, end: async () => undefined }
    const code = await run(submit, { ...desk, printer: silent })
    return code === 0 ? waitForAll(interval, desk) : code
  },
})
