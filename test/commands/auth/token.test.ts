import { expect, test } from 'vitest'
import { mergeq, type Setting } from '../../support/harness.ts'
import { done, mergeSettings, stored } from '../../support/settings-sources.ts'
import { token } from '../../support/tokens.ts'

const hosted = 'https://api.trunk.io'
const noToken: Setting = { env: { MERGEQ_TOKEN: undefined } }

test('`auth token` prints the token and nothing else, and its help says that it does', async () => {
  const setting = mergeSettings(noToken, stored({ tokens: { [hosted]: token } }))
  expect(await mergeq('auth token', setting)).toMatchObject({ ...done, out: `${token}\n` })
  expect((await mergeq('auth token --help')).out).toMatch(/print the API token in plain text/i)
})
