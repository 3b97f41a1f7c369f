import { expect, test } from 'vitest'
import { mergeq } from '../../support/harness.ts'

const file = '/home/me/.config/mergeq/config.json'
const files = { [file]: JSON.stringify({ profiles: { work: { org: 'acme' } } }) }
const env = { HOME: '/home/me' }

const lines = ['auth list', 'config list', 'config list --show-origin', 'auth status --no-verify']

test.each(lines)('`%s` says which profile is used and why', async line => {
  const work = await mergeq(line, { files, env: { ...env, MERGEQ_PROFILE: 'work' } })
  expect(`${work.out}${work.err}`).toContain('Profile: work (MERGEQ_PROFILE)')
  const typed = await mergeq(`${line} --profile work`, { files, env, terminal: true })
  expect(`${typed.out}${typed.err}`).toContain('Profile: work (--profile)')
  expect((await mergeq(line, { files, env })).err).not.toContain('Profile')
})

test('`auth logout` of a profile that is gone, or that only the machine has, says that nothing is stored', async () => {
  const machine = { text: JSON.stringify({ profiles: { shared: { org: 'acme' } } }) }
  for (const profile of ['gone', 'shared']) {
    const { code, err } = await mergeq(`auth logout --profile ${profile}`, { files, env, machine })
    expect({ profile, code, err }).toEqual({
      profile,
      code: 0,
      err: expect.stringMatching(/^No token is stored for .*\n$/),
    })
  }
})

test.each(['', ' a', 'a\nb'])(
  '`auth list` names the file that has a profile with the name %j',
  async name => {
    const odd = { [file]: JSON.stringify({ profiles: { [name]: { org: 'acme' } } }) }
    const { code, err } = await mergeq('auth list', { files: odd, env })
    expect(code).toBe(2)
    expect(err).toContain(`${file}: ${JSON.stringify(name)} cannot be the name of a profile.`)
    expect(err).not.toContain('--profile')
  },
)
