/** An absolute URL, or undefined. In Node 20, `URL.canParse` rejects `münchen.test` after many calls. */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

/** Whether a host is this machine, which is reached with plain http, too, and never through a proxy. */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
