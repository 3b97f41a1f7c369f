import { expect, test } from 'vitest'
import { parseUrl } from '../../src/base/url.ts'

// What is a URL is in the tests of base addresses and proxies.
test('a URL may have a name outside ASCII, also after many calls', () => {
  for (let call = 0; call < 20_000; call++) parseUrl('https://api.trunk.io/v1')
  const hosts = new Set(Array.from({ length: 5_000 }, () => parseUrl('https://münchen.test/v1')?.host))
  expect(hosts).toEqual(new Set(['xn--mnchen-3ya.test']))
})
