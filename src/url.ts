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
