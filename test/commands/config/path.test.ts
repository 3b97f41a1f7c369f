import { expect, test } from 'vitest'
import { mergeq } from '../../support/harness.ts'

const [home, mac] = [{ HOME: '/home/me' }, { HOME: '/Users/me' }]
const paths: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
  ['linux', home, '/home/me/.config/mergeq/config.json\n'],
  ['linux', { ...home, XDG_CONFIG_HOME: '' }, '/home/me/.config/mergeq/config.json\n'],
  ['linux', { ...home, XDG_CONFIG_HOME: '/xdg' }, '/xdg/mergeq/config.json\n'],
  ['linux', { ...home, XDG_CONFIG_HOME: '/xdg', MERGEQ_CONFIG_DIR: '/dir' }, '/dir/config.json\n'],
  ['darwin', mac, '/Users/me/Library/Preferences/mergeq/config.json\n'],
  ['darwin', { ...mac, XDG_CONFIG_HOME: '/xdg' }, '/xdg/mergeq/config.json\n'],
  ['win32', { LocalAppData: 'C:\\Users\\me' }, 'C:\\Users\\me\\mergeq\\config.json\n'],
]
test.each(paths)('path on %s with %j', async (platform, env, out) => {
  expect(await mergeq('config path', { platform, env })).toMatchObject({ code: 0, out, err: '' })
})
