import { expect, test } from 'vitest'
import { mergeq } from '../../support/harness.ts'

test('`config get` of a setting without a value ends with exit code 5, and says how to set it', async () => {
  expect(await mergeq('config get org')).toMatchObject({
    code: 5,
    out: '',
    err: 'mergeq: org is not set.\n  To set it, use config set.\n',
    requests: [],
  })
})
