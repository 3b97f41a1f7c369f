import { describe, expect, test } from 'vitest'
import { parseUrl } from '../../src/base/url.ts'

describe('parseUrl', () => {
  test.each([
    ['https://api.trunk.io/v1', 'https://api.trunk.io/v1'],
    ['http://proxy.example:3128', 'http://proxy.example:3128/'],
    ['https://münchen.test/v1', 'https://xn--mnchen-3ya.test/v1'],
  ])('%s is a URL', (text, href) => {
    expect(parseUrl(text)?.href).toBe(href)
  })

  test.each(['', 'acme/web', '/v1', 'https://', 'https://a b'])('%j is not a URL', text => {
    expect(parseUrl(text)).toBe(undefined)
  })

  test('accepts names outside ASCII after many calls', () => {
    for (let call = 0; call < 20_000; call++) parseUrl('https://api.trunk.io/v1')
    const hosts = new Set(Array.from({ length: 5_000 }, () => parseUrl('https://münchen.test/v1')?.host))
    expect(hosts).toEqual(new Set(['xn--mnchen-3ya.test']))
  })
})
