import { expect, test } from 'vitest'
import { bypassesProxy, proxyAuthorization, proxyFromEnvironment } from '../../src/http/proxy.ts'

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
  'queue.acme.test.',
  '.acme.test.',
  'other.test,*',
  'other.test *',
  '*:8443',
])("NO_PROXY '%s' goes direct", list => {
  expect(bypassesProxy(service, { NO_PROXY: list })).toBe(true)
  expect(bypassesProxy(service, { NO_PROXY: 'other.test', no_proxy: list })).toBe(true)
})

test.each([
  '',
  'queue.acme.test:1',
  'cme.test',
  'queue.acme.test.other',
  'other.test,.more.test',
  '.',
  '*:1',
  '10.0.0.0/8',
  '::/0',
])("NO_PROXY '%s' goes through the proxy", list => {
  expect(bypassesProxy(service, { NO_PROXY: list })).toBe(false)
})

test.each([
  ['10.1.2.3', '10.1.2.3'],
  ['10.1.2.3', 'other.test, 10.0.0.0/8'],
  ['10.1.2.3', '10.1.2.3:8443'],
  ['10.1.2.3', '0.0.0.0/0'],
  ['10.1.2.3', '::ffff:10.1.2.3'],
  ['[fd00::1]', 'fd00::1'],
  ['[fd00::1]', 'FD00:0:0::1'],
  ['[fd00::1]', '[fd00::1]'],
  ['[fd00::1]', '[fd00::1]:8443'],
  ['[fd00::1]', 'fd00::/8'],
  ['[fd00::1]', '[fd00::]/8'],
  ['queue.acme.test.', 'acme.test'],
  ['xn--mnchen-3ya.test', 'M\u00FCnchen.test'],
])('%s is in NO_PROXY %s', (host, list) => {
  expect(bypassesProxy(new URL(`https://${host}:8443/v1`), { NO_PROXY: list })).toBe(true)
})

test.each([
  ['10.1.2.3', '10.1.2.4'],
  ['10.1.2.3', '1.2.3'],
  ['10.1.2.3', '.2.3'],
  ['10.1.2.3', '10.1.2.3:1'],
  ['10.1.2.3', '11.0.0.0/8'],
  ['10.1.2.3', '10.0.0.0/33'],
  ['10.1.2.3', '10.0.0.0/'],
  ['10.1.2.3', 'fd00::/8'],
  ['[fd00::1]', 'fd00::2'],
  ['[fd00::1]', '[fd00::1]:1'],
  ['[fd00::1]', 'fe00::/8'],
  ['[fd00::1]', '10.0.0.0/8'],
  ['[fd00::1]', 'fd00::/129'],
])('%s is not in NO_PROXY %s', (host, list) => {
  expect(bypassesProxy(new URL(`https://${host}:8443/v1`), { NO_PROXY: list })).toBe(false)
})

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

test.each([
  ['http://us:p@ss@proxy.test:3128', 'proxy.test:3128', 'us:p@ss'],
  ['us:p@ss:w@proxy.test:3128/', 'proxy.test:3128', 'us:p@ss:w'],
  ['http://us%3Aer:p%40ss%2Fword%25@proxy.test', 'proxy.test', 'us:er:p@ss/word%'],
  ['http://user@proxy.test:3128', 'proxy.test:3128', 'user:'],
  ["http://user:it's$(x)&{y}@proxy.test:3128", 'proxy.test:3128', "user:it's$(x)&{y}"],
  [' HTTP://PROXY.test:80\r\n', 'proxy.test', undefined],
  ['https://[fd00::1]:3128', '[fd00::1]:3128', undefined],
])('%s is a proxy', (address, host, login) => {
  const url = proxyFromEnvironment({ HTTPS_PROXY: address })
  expect(url?.host).toBe(host)
  const header = url && proxyAuthorization(url).token
  expect(header).toBe(login && `Basic ${Buffer.from(login).toString('base64')}`)
})

const notUrl = /^The value of HTTPS_PROXY is not an http or https URL\.$/
test.each([
  'socks5://user:s3cret@127.0.0.1:1080',
  'socks5:127.0.0.1:1080',
  'socks:1080',
  'http://user:s3cret@[',
  'user:s3cret',
  'http://user:s3cret%@proxy.test:3128',
  'http://user:s3cret%zz@proxy.test:3128',
  'http://user:s3cret%ff@proxy.test:3128',
  'http://user:s3#cret@proxy.test:3128',
  'http://user:12#cret@proxy.test:3128',
  'http://user:s3\\cret@proxy.test:3128',
  'http://user:12\\cret@proxy.test:3128',
  'http://user:12/s3cret@proxy.test:3128',
  'http://user:12?s3cret@proxy.test:3128',
  'http://user:s3"cret@proxy.test:3128',
  'http://user:s3 cret@proxy.test:3128',
  '"http://proxy.test:3128"',
  "'http://user:s3cret@proxy.test:3128'",
  'http://',
  'http:///s3cret:3128',
  'http://:3128',
  'http://user:s3cret@',
  'http://user:s3cret@:3128',
  'http://proxy.test:',
  'http://proxy.test:0',
  'http://proxy.test:99999',
  'http://proxy.test:s3cret',
  'http://proxy.test:3128/s3cret',
  'http:proxy.test:3128',
  'ftp://proxy.test',
])('%s is no proxy, and the error names the variable and has no part of the value', address => {
  const read = () => proxyFromEnvironment({ HTTPS_PROXY: address })
  expect(read).toThrow(notUrl)
  try {
    read()
  } catch (error) {
    expect(JSON.stringify(error)).not.toMatch(/s3|cret|proxy\.test|user:/)
  }
})

test('the error names the variable as it is written', () => {
  expect(() => proxyFromEnvironment({ https_proxy: 'ftp://proxy.test' })).toThrow(
    /^The value of https_proxy /,
  )
})
