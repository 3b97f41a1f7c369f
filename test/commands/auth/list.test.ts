import { expect, test } from 'vitest'
import { mergeq, type Setting } from '../../support/harness.ts'
import { file, mergeSettings, stored } from '../../support/settings-sources.ts'
import { encodingsFound, hosted, token } from '../../support/tokens.ts'

const own = 'https://mq.test'
const noToken: Setting = { env: { MERGEQ_TOKEN: undefined } }
const settings = mergeSettings(
  noToken,
  stored({
    tokens: { [hosted]: token, 'https://old.test': token },
    profiles: {
      default: { repo: 'acme/web' },
      work: { 'base-url': `${own}/v1`, 'token-command': 'op read op://team/secret' },
      play: { 'base-url': `${own}/v1` },
    },
  }),
)

test('`auth list` names profiles, origins and where each token comes from, without a request', async () => {
  const ran = await mergeq('auth list --json --profile work', {
    ...settings,
    spawn: () => {
      throw new Error('no program may run')
    },
  })
  expect({ code: ran.code, err: ran.err, requests: ran.requests }).toEqual({
    code: 0,
    err: 'Profile: work (--profile).\n',
    requests: [],
  })
  expect(JSON.parse(ran.out)).toEqual([
    { profile: 'default', origin: hosted, source: 'store', from: file, selected: false },
    { profile: 'default', origin: 'https://old.test', source: 'store', from: file, selected: false },
    { profile: 'work', origin: own, source: 'program', from: 'op', selected: true },
    { profile: 'play', origin: own, source: 'none', from: null, selected: false },
  ])
})

test.each([
  ['MERGEQ_TOKEN', { MERGEQ_TOKEN: token }, 'variable', 'MERGEQ_TOKEN'],
  ['MERGEQ_TOKEN_FILE', { MERGEQ_TOKEN_FILE: '/run/none' }, 'file', '/run/none'],
  ['MERGEQ_TOKEN_COMMAND', { MERGEQ_TOKEN_COMMAND: 'pass show x' }, 'program', 'pass'],
  ['TRUNK_API_TOKEN', { TRUNK_API_TOKEN: token }, 'variable', 'TRUNK_API_TOKEN'],
  ['nothing', {}, 'none', '-'],
])('`auth list` shows %s, and never the token', async (_, env, source, from) => {
  const { code, out } = await mergeq('auth list', mergeSettings(noToken, { env }))
  expect({ code, out }).toEqual({
    code: 0,
    out: `default\t${hosted}\t${source}\t${from === '-' ? '' : from}\ttrue\n`,
  })
  expect(encodingsFound(out, token)).toEqual([])
})

const work = stored({ profiles: { work: { org: 'acme' } } })

test.each(['auth list', 'config list', 'config list --show-origin', 'auth status --no-verify'])(
  '`%s` says which profile is used and why',
  async line => {
    const chosen = await mergeq(line, mergeSettings(work, { env: { MERGEQ_PROFILE: 'work' } }))
    expect(`${chosen.out}${chosen.err}`).toContain('Profile: work (MERGEQ_PROFILE)')
    const typed = await mergeq(`${line} --profile work`, { ...work, terminal: true })
    expect(`${typed.out}${typed.err}`).toContain('Profile: work (--profile)')
    expect((await mergeq(line, work)).err).not.toContain('Profile')
  },
)

test.each(['', ' a', 'a\nb'])(
  '`auth list` names the file that has a profile with the name %j',
  async name => {
    const { code, err } = await mergeq('auth list', stored({ profiles: { [name]: { org: 'acme' } } }))
    expect(code).toBe(2)
    expect(err).toContain(`${file}: ${JSON.stringify(name)} cannot be the name of a profile.`)
    expect(err).not.toContain('--profile')
  },
)
