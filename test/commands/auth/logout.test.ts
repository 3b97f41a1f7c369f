import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { mergeq } from '../../support/harness.ts'
import { done, openHome } from '../../support/settings-sources.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { encodingsFound, hosted, otherToken as other, token } from '../../support/tokens.ts'

const root = temporaryFolder('mergeq-logout-')
const open = () => openHome(root)

describe('`auth logout`', () => {
  test('removes the token of this origin only; the second time it says that nothing was stored', async () => {
    const { file, read, run, write } = open()
    const rest = { future: 1, profiles: { work: { repo: 'acme/web' } } }
    write({ ...rest, tokens: { [hosted]: token, 'https://x.test': other } })
    const others =
      'To remove the token for https://x.test, run: mergeq auth logout --base-url https://x.test\n'
    expect(await run('auth logout')).toEqual({ ...done, err: `Removed the token for ${hosted}.\n${others}` })
    expect(read()).toEqual({ ...rest, tokens: { 'https://x.test': other } })
    expect(encodingsFound(readFileSync(file, 'utf8'), token)).toEqual([])
    expect(await run('auth logout')).toEqual({
      ...done,
      err: `No token is stored for ${hosted}.\n${others}`,
    })
    expect((await run('auth status')).code).toBe(4)
  })

  test('removes a profile without settings, and names the command that removes those of another', async () => {
    const { read, run, write } = open()
    const tokens = { [hosted]: token }
    write({ profiles: { old: { tokens }, work: { tokens, org: 'acme', repo: 'acme/web' } } })
    expect((await run('auth logout --profile old')).err).toBe(
      `Removed the token for ${hosted} in profile old.\n`,
    )
    expect((await run('auth logout --profile work')).err).toBe(
      `Removed the token for ${hosted} in profile work.\nTo remove its settings, and with them the profile, run: mergeq config unset org repo --profile work\n`,
    )
    expect((await run('config unset org repo --profile work')).code).toBe(0)
    expect(read()).toEqual({ profiles: {} })
  })

  test('names the command that removes the token of another service, and not yet that of the profile', async () => {
    const { run, write } = open()
    write({ profiles: { work: { tokens: { 'https://x.test': other }, org: 'acme' } } })
    expect(await run('auth logout --profile work')).toEqual({
      ...done,
      err: `No token is stored for ${hosted} in profile work.\nTo remove the token for https://x.test, run: mergeq auth logout --base-url https://x.test --profile work\n`,
    })
    const { err } = await run('auth logout --base-url https://x.test --profile work')
    expect(err).toContain('run: mergeq config unset org --profile work')
  })

  const left = 'config.json.11111111-2222-4333-8444-555555555555.new'
  test.each([[{ [hosted]: token }], [{}]])('removes what a killed process left behind: %j', async tokens => {
    const { folder, run, write } = open()
    write({ tokens })
    writeFileSync(join(folder, left), JSON.stringify({ tokens: { [hosted]: token } }))
    expect((await run('auth logout')).code).toBe(0)
    expect(readdirSync(folder)).toEqual(['config.json'])
  })

  test('of a profile that is gone, or that only the machine has, says that nothing is stored', async () => {
    const machine = { text: JSON.stringify({ profiles: { shared: { org: 'acme' } } }) }
    for (const profile of ['gone', 'shared'])
      expect(await mergeq(`auth logout --profile ${profile}`, { machine })).toMatchObject({
        code: 0,
        err: expect.stringMatching(/^No token is stored for .*\n$/),
      })
  })
})
