import { describe, expect, test } from 'vitest'
import { mergeq, openStory, type Setting } from '../support/harness.ts'
import { profiles } from '../support/settings-sources.ts'

const settings = (user: string): Setting => profiles({ default: { user } })

/** Runs lines in a sandbox where #8, by barbara, merges and #9 then fails. */
async function story(lines: readonly string[], setting: Setting) {
  const { clock, close, mergeq: run } = await openStory({ dialect: 'hosted', scenario: 'failure' })
  await run('pr submit 8 9')
  clock.now += 1_000
  const outcomes = []
  for (const line of lines) outcomes.push(await run(line, setting))
  await close()
  return outcomes
}

describe('the setting `user`', () => {
  const screens = ['queue get', 'pr list', 'queue watch --interval 1s --for 1s']
  const shown = { terminal: true, columns: 110 }

  test('marks its pull requests on screens, and only there', async () => {
    const mine = await story(screens, { ...settings('Barbara'), ...shown })
    for (const { out } of mine) {
      expect(out).toMatch(/(?:^|\s)\*\s+#8 /m)
      expect(out).not.toMatch(/\*\s+#9 /)
    }
    for (const setting of [{ ...settings('nobody'), ...shown }, shown])
      for (const { out } of await story(screens, setting)) expect(out).not.toContain('*')
    for (const format of ['', '--json', '-o csv', '-o ndjson']) {
      const lines = screens.slice(0, 2).map(line => `${line} ${format}`)
      expect(await story(lines, settings('barbara'))).toEqual(await story(lines, {}))
    }
  })

  test('is @me of `pr list --author`', async () => {
    const line = 'pr list --author @me'
    const [mine] = await story([line], settings('@barbara'))
    expect(mine?.out).toMatch(/^8\t.*barbara/)
    expect(mine?.out).not.toMatch(/^9\t/m)
    const { code, err, requests } = await mergeq(`${line} -R acme/web -b main`)
    expect({ code, err, requests }).toEqual({
      code: 2,
      err: 'mergeq: --author: who @me is, is not known.\n  Store your login (config set user), or use it, such as: --author octocat\n',
      requests: [],
    })
  })

  test.each(['me', '@me', 'two words', ''])('is a login: %j', async login => {
    expect((await mergeq(['config', 'set', 'user', login])).code).toBe(2)
  })

  test.each([
    ['barbara', '', 1],
    ['grace', '', 0],
    ['barbara', '--no-bell', 0],
  ])('rings the bell of a watch when a pull request of %s leaves %s', async (user, typed, rings) => {
    const watch = `queue watch -v --interval 11s --for 25s ${typed}`
    const [watched] = await story([watch], { ...settings(user), ...shown })
    expect(watched?.err.match(/\u0007/g) ?? []).toHaveLength(rings)
  })
})
