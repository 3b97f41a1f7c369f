import { expect, test } from 'vitest'
import { MergeqError } from '../../../src/base/errors.ts'
import { mergeq, type Setting } from '../../support/harness.ts'

test('`sandbox start` prints one line of JSON, and lines to paste on a terminal of PowerShell', async () => {
  const reason = new MergeqError('interrupted', 'stopped by SIGINT.', { exit: 130 })
  const start = (setting: Setting) =>
    mergeq('sandbox start', { signal: AbortSignal.abort(reason), ...setting })
  const { code, out, err } = await start({})
  expect({ code, err }).toEqual({ code: 130, err: 'mergeq: stopped by SIGINT.\n' })
  expect(out).toMatch(/^\{"baseUrl":"http:\/\/127\.0\.0\.1:\d+\/v1","token":"sandbox"\}\n$/)
  const env = { PSModulePath: '/home/ann/.local/share/powershell/Modules' }
  expect((await start({ terminal: true, env })).out).toMatch(/^\$env:MERGEQ_TOKEN = 'sandbox'$/m)
})
