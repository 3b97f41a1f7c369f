import { expect, test } from 'vitest'
import { bypassesProxy, proxyFromEnvironment } from '../../src/http/connect.ts'

const service = new URL('https://queue.acme.test:8443/v1')

test.each([
  'queue.acme.test',
  'QUEUE.ACME.TEST',
  '.acme.test',
  '*.acme.test',
  'acme.test',
  'queue.acme.test:8443',
  '.acme.test:8443',
  '*',
  'other.test,queue.acme.test',
  'other.test, queue.acme.test ,.more.test',
])("NO_PROXY '%s' goes direct", list => {
  expect(bypassesProxy(service, { NO_PROXY: list })).toBe(true)
  expect(bypassesProxy(service, { NO_PROXY: 'other.test', no_proxy: list })).toBe(true)
})

test.each(['', 'queue.acme.test:1', 'cme.test', 'queue.acme.test.other', 'other.test,.more.test', '.'])(
  "NO_PROXY '%s' goes through the proxy",
  list => {
    expect(bypassesProxy(service, { NO_PROXY: list })).toBe(false)
  },
)

test('an address without a port has the port of https', () => {
  const url = new URL('https://queue.acme.test/v1')
  expect(bypassesProxy(url, { NO_PROXY: 'queue.acme.test:443' })).toBe(true)
})

test('lower case takes precedence over upper case, and an address needs no scheme, as in curl', () => {
  const of = (env: Readonly<Record<string, string>>) => proxyFromEnvironment(env)?.href
  expect(of({ HTTPS_PROXY: 'http://a:1', https_proxy: 'http://b:2' })).toBe('http://b:2/')
  expect(of({ HTTPS_PROXY: 'http://a:1', https_proxy: '' })).toBe('http://a:1/')
  expect(of({ HTTPS_PROXY: 'a:1' })).toBe('http://a:1/')
  expect(of({ HTTP_PROXY: 'http://a:1', ALL_PROXY: 'http://b:2' })).toBeUndefined()
})

test.each(['socks5://user:s3cret@127.0.0.1:1080', 'http://user:s3cret@[', 'user:s3cret'])(
  '%s is no proxy, and the error has no password',
  address => {
    expect(() => proxyFromEnvironment({ HTTPS_PROXY: address })).toThrow(
      /^The value of HTTPS_PROXY is not an http or https URL\.$/,
    )
  },
)
