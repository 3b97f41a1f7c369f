import { expect, test } from 'vitest'
import { mergeq } from '../../support/harness.ts'
import { ciJob } from '../../support/settings-sources.ts'
import { token } from '../../support/tokens.ts'

const job = { env: ciJob }

test('`config list --show-origin` has the facts of the job, but for a head commit that may be a merge', async () => {
  const { code, out } = await mergeq('config list --show-origin', job)
  expect(code).toBe(0)
  expect(out).toMatch(/\npr\t7\tGITHUB_REF\nci\tGitHub Actions\tGITHUB_ACTIONS\n$/)
  expect((await mergeq('config list', job)).out).not.toMatch(/^(?:pr|ci)\t/m)
  const head = await mergeq('config list --show-origin', { env: { MERGEQ_SHA: '4f2a9c1' } })
  expect(head.out).toMatch(/\nsha\t4f2a9c1\tMERGEQ_SHA\n$/)
})

test.each(['config list', 'config get base-url', 'config list --json --show-origin'])(
  '`%s` does not print the password of a base address that is refused everywhere else',
  async line => {
    const env = { MERGEQ_BASE_URL: `https://me:${token}@h.test/v1`, MERGEQ_TOKEN: '' }
    const { out, err } = await mergeq(line, { env })
    expect(out + err).not.toContain(token)
  },
)
