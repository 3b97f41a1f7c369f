/**
 * Returns a text as a URL; undefined when it is not an absolute URL. In Node 20, `URL.canParse` rejects names
 * such as `münchen.test` after many calls.
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

/**
 * Returns whether a host name means this machine. Plain http is accepted for these hosts only, and they are
 * never reached through a proxy.
 */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
