import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import { usageError } from '../base/errors.ts'
import { parseUrl } from '../base/url.ts'
import type { Environment } from '../host/host.ts'

const httpsPort = 443

/** Returns a variable in lower or upper case; the one in lower case comes first, as in curl. */
function findVariable(env: Environment, upperCase: string) {
  const name = [upperCase.toLowerCase(), upperCase].find(name => (env[name] ?? '').trim() !== '')
  return name === undefined ? undefined : { name, value: (env[name] ?? '').trim() }
}

/** Returns the proxy that the caller gives, for every URL, or else that of the environment. */
export function proxySource(env: Environment, given: string | undefined) {
  const name = given === undefined ? proxyVariable(env) : 'the option proxy'
  return {
    /** The variable or the option that names it. */
    name,
    check: given === undefined ? `Check the proxy in ${name}, or bypass it with NO_PROXY.` : `Check ${name}.`,
    /** Returns the proxy for a URL; undefined without one. Throws a usage error for an invalid address. */
    proxyFor(url: URL): URL | undefined {
      if (given !== undefined) return checkProxy(given, name)
      return bypassesProxy(url, env) ? undefined : proxyFromEnvironment(env)
    },
  }
}

export type ProxySource = ReturnType<typeof proxySource>

export const proxyVariable = (env: Environment): string =>
  findVariable(env, 'HTTPS_PROXY')?.name ?? 'HTTPS_PROXY'

/** Returns the proxy in HTTPS_PROXY (or https_proxy), or undefined when the variable is not set. */
export function proxyFromEnvironment(env: Environment): URL | undefined {
  const variable = findVariable(env, 'HTTPS_PROXY')
  return variable && checkProxy(variable.value, variable.name)
}

/** Returns the address of a proxy; throws a usage error that names its variable or option, never the value. */
export function checkProxy(value: string, name: string): URL {
  const isSocks = /^socks\w*:/i.test(value)
  const url = isSocks ? undefined : parseProxy(value)
  if (url !== undefined) return url
  const advice = `Set ${name} to a URL without quotes, for example http://proxy.example:3128.`
  const encoding = value.includes('@')
    ? ' In the user name and the password, write %25 for %, %23 for #, %2F for /, %3F for ?, %5C for \\ and %22 for ".'
    : ''
  throw usageError(
    `The value of ${name} is not an http or https URL.`,
    `${isSocks ? 'SOCKS proxies are not supported. ' : ''}${advice}${encoding}`,
  )
}

/** The parts of an address; the login ends at the last `@`. */
const addressParts = /^(?:([a-z][a-z\d+.-]*):\/\/)?(?:(.*)@)?([^@]*?)\/?$/is
/** A login that every program reads in the same way: what would end it in a URL is percent-encoded. */
const validLogin = /^(?:[^%#?/\\"\s\0-\u001F\u007F]|%[\da-f]{2})*$/i
/** A host, with brackets around an IPv6 address, and maybe a port. */
const validHost = /^(?:\[[\da-f:.]+\]|[^:[\]/?#\\"'%\s]+)(?::0*[1-9]\d*)?$/i

function parseProxy(address: string): URL | undefined {
  const [, scheme = 'http', login = '', host = ''] = addressParts.exec(address) ?? []
  if (!/^https?$/i.test(scheme) || !validLogin.test(login) || !validHost.test(host)) return undefined
  const [, user = '', password = ''] = /^([^:]*):?(.*)$/s.exec(login) ?? []
  try {
    decodeURIComponent(login)
  } catch {
    return undefined
  }
  const url = parseUrl(`${scheme}://${host}`)
  return url && Object.assign(url, { username: user, password })
}

/** Returns the login of a proxy as an option of undici. */
export function proxyAuthorization({ username, password }: URL): { readonly token?: string } {
  if (username === '' && password === '') return {}
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { token: `Basic ${Buffer.from(login).toString('base64')}` }
}

/**
 * Returns whether a host is in NO_PROXY (or no_proxy), a list with commas or white space. `*` is every host. A name
 * includes its subdomains, also with `.` or `*.` before it (curl, lib/noproxy.c); IP addresses and networks (CIDR) are
 * compared as numbers, and an entry may have a port (Go, x/net/http/httpproxy).
 */
export function bypassesProxy({ hostname, port }: URL, env: Environment): boolean {
  const host = withoutBrackets(hostname)
  return (findVariable(env, 'NO_PROXY')?.value ?? '')
    .split(/[,\s]+/)
    .map(splitPort)
    .some(entry => {
      if (entry.port !== undefined && entry.port !== Number(port || httpsPort)) return false
      return (
        entry.name === '*' ||
        (isIP(host) === 0 ? isDomainOf(host, entry.name) : isInNetwork(host, entry.name))
      )
    })
}

const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]/, '$1')

/** An IPv6 address has a port only after brackets. */
function splitPort(entry: string): { readonly name: string; readonly port?: number } {
  const [, name = entry, port] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? []
  return port === undefined ? { name } : { name, port: Number(port) }
}

function isDomainOf(host: string, entry: string): boolean {
  const name = entry.replace(/^\*?\./, '').replace(/\.$/, '')
  // A URL has names in lower case and in ASCII.
  const domain = name === '' ? undefined : parseUrl(`https://${name}`)?.hostname
  const plain = host.replace(/\.$/, '')
  return domain !== undefined && (plain === domain || plain.endsWith(`.${domain}`))
}

/** Whether an IP address is another one, or in a network such as `10.0.0.0/8`. */
function isInNetwork(host: string, entry: string): boolean {
  const [, address = '', prefix] = /^([^/]*)(?:\/(\d+))?$/.exec(withoutBrackets(entry)) ?? []
  const family = isIPv4(address) ? 'ipv4' : 'ipv6'
  const bits = family === 'ipv4' ? 32 : 128
  if (isIP(address) === 0 || Number(prefix ?? bits) > bits) return false
  const network = new BlockList()
  network.addSubnet(address, Number(prefix ?? bits), family)
  return network.check(host, isIPv6(host) ? 'ipv6' : 'ipv4')
}

/** The failure of a connection to the proxy, or of the TLS with it; its cause is the error. */
export class ProxyConnectionError extends Error {
  override readonly name = 'ProxyConnectionError'
}
