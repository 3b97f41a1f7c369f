import { describe, expect, test } from 'vitest'
import { mergeq } from '../../support/harness.ts'
import { profiles } from '../../support/settings-sources.ts'

describe('`config get`', () => {
  const settings = profiles({ default: { repo: 'acme/web' } })

  test('prints the value alone; with --json, where it comes from, too', async () => {
    expect(await mergeq('config get repo', settings)).toMatchObject({ code: 0, out: 'acme/web\n', err: '' })
    const { out } = await mergeq('config get repo --json', settings)
    expect(JSON.parse(out)).toEqual({ key: 'repo', value: 'acme/web', origin: 'profile default' })
  })

  test('of a setting without a value ends with exit code 5, and says how to set it', async () => {
    expect(await mergeq('config get org', settings)).toMatchObject({
      code: 5,
      out: '',
      err: 'mergeq: org is not set.\n  To set it, use config set.\n',
      requests: [],
    })
  })
})
