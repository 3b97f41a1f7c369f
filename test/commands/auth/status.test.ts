import { describe, expect, test } from 'vitest'
import { type Answer, mergeq, type Setting } from '../../support/harness.ts'
import { file, mergeSettings, runningQueue, stored } from '../../support/settings-sources.ts'
import { encodingsFound, hosted, otherToken as other, token } from '../../support/tokens.ts'

const noToken: Setting = { env: { MERGEQ_TOKEN: undefined } }

describe('`auth status`', () => {
  const base = 'https://api.mergeq.test/v1'
  const origin = 'https://api.mergeq.test'
  const both = stored({ tokens: { 'https://x.test': other, [origin]: token } })
  const stale = mergeSettings(stored({ tokens: { [origin]: other } }), {
    env: { MERGEQ_TOKEN: token, MERGEQ_BASE_URL: base },
  })
  const cases: readonly (readonly [string, string, Setting])[] = [
    ['MERGEQ_TOKEN', origin, stale],
    [
      `the stored token for ${origin}`,
      origin,
      mergeSettings(both, { env: { MERGEQ_TOKEN: '', MERGEQ_BASE_URL: base } }),
    ],
    ['TRUNK_API_TOKEN', hosted, { env: { MERGEQ_TOKEN: '', TRUNK_API_TOKEN: token } }],
    ['MERGEQ_TOKEN', hosted, { env: { MERGEQ_TOKEN: token, TRUNK_API_TOKEN: other } }],
  ]
  test.each(cases)('names %s, its origin %s and four characters', async (source, goesTo, setting) => {
    const { code, out, err } = await mergeq('auth status --no-verify --json', setting)
    expect({ code, out: JSON.parse(out), err }).toEqual({
      code: 0,
      out: {
        source,
        origin: goesTo,
        profile: 'default',
        settingsFile: setting.env?.HOME === undefined ? '' : file,
        lastCharacters: 'b6aa',
        verification: 'skipped',
      },
      err: setting.env?.MERGEQ_TOKEN === '' ? 'mergeq: MERGEQ_TOKEN is set but empty.\n' : '',
    })
    for (const text of [out, err])
      for (const secret of [token, other]) expect(encodingsFound(text, secret)).toEqual([])
  })

  test('uses TRUNK_API_TOKEN for the default base address only, and not if it is empty', async () => {
    const env = { ...noToken.env, TRUNK_API_TOKEN: token }
    const { code, requests } = await mergeq('auth status', { env, answer: runningQueue })
    expect({ code, requests }).toEqual({ code: 4, requests: [] })
    const empty = { ...noToken.env, TRUNK_API_TOKEN: ' ' }
    expect((await mergeq('auth status', { env: empty })).code).toBe(4)
  })

  test('shows nothing of a token of eleven characters', async () => {
    const env = { MERGEQ_TOKEN: 'elevenchars' }
    const { code, out } = await mergeq('auth status --no-verify --json', { env })
    expect({ code, lastCharacters: JSON.parse(out).lastCharacters }).toEqual({ code: 0, lastCharacters: '' })
    const screen = await mergeq('auth status --no-verify --color never', { env, terminal: true })
    expect(screen.out).toMatch(/^The token from MERGEQ_TOKEN is used for \S+ it was not\s+verified\.$/m)
  })

  const answers: readonly (readonly [answer: Answer, code: number, verification: string, kind: string])[] = [
    [{ body: '' }, 0, 'accepted', ''],
    [{ status: 401, body: 'bad token' }, 4, 'rejected', 'auth'],
    [{ status: 403 }, 4, 'rejected', 'auth'],
    [{ status: 500 }, 7, 'unavailable', 'unavailable'],
    [{ status: 302, headers: { location: 'https://elsewhere.test/' } }, 7, 'unavailable', 'unavailable'],
    [{ body: '<html>', headers: { 'content-type': 'text/html' } }, 7, 'unavailable', 'unavailable'],
  ]
  test.each(answers)(
    'asks the service whether it accepts the token: %j',
    async (answer, code, verification, kind) => {
      const env = { MERGEQ_TOKEN: token }
      const result = await mergeq('auth status --json --retries 0', { env, answer: () => answer })
      expect({ code: result.code, out: JSON.parse(result.out) }).toEqual({
        code,
        out: {
          source: 'MERGEQ_TOKEN',
          origin: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
          profile: 'default',
          settingsFile: '',
          lastCharacters: 'b6aa',
          verification,
        },
      })
      expect(result.requests).toMatchObject([
        { method: 'GET', path: '/v1/getMergeQueueMetrics', headers: { 'x-api-token': token } },
      ])
      if (kind === '') expect(result.err).toBe('')
      else expect(JSON.parse(result.err).error).toMatchObject({ kind, exit: code })
    },
  )

  test('names the profile and the settings file on a terminal', async () => {
    const setting = mergeSettings(stored({ profiles: { work: { repo: 'a/b' } } }), {
      env: { MERGEQ_TOKEN: token, NO_COLOR: '1' },
      terminal: true,
      columns: 200,
    })
    const { out } = await mergeq('auth status --no-verify --profile work', setting)
    expect(out).toContain(`Profile: work (--profile) (${file})\n`)
  })
})
