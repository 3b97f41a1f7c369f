import { hash } from 'node:crypto'

export type SeedParts = readonly (string | number)[]

/** Every response has data that earlier ones had, and other sandboxes of a process. */
const digests = new Map<string, Buffer>()

const maxDigests = 10_000

function digest(parts: SeedParts): Buffer {
  const text = JSON.stringify(parts)
  const known = digests.get(text)
  if (known !== undefined) return known
  const created = hash('sha256', text, 'buffer')
  if (digests.size === maxDigests) digests.clear()
  digests.set(text, created)
  return created
}

/** Creates lower-case hexadecimal digits; `length` is at most 64. */
export const createHex = (length: number, ...parts: SeedParts): string =>
  digest(parts).toString('hex').slice(0, length)

export function createUuid(...parts: SeedParts): string {
  const digits = createHex(32, ...parts)
  const third = `4${digits.slice(13, 16)}`
  const variant = ['8', '9', 'a', 'b'][digest(['uuid-variant', ...parts]).readUInt8(0) % 4]
  const fourth = `${variant}${digits.slice(17, 20)}`
  return [digits.slice(0, 8), digits.slice(8, 12), third, fourth, digits.slice(20)].join('-')
}

/** Each call returns the next pseudo-random number, from 0 up to but not including 1. */
export function createRandom(...parts: SeedParts): () => number {
  let state = digest(parts).readUInt32LE(0)
  // The mulberry32 generator is small and fast, and good enough for sample data.
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export const pick = (random: number, texts: readonly string[]): string =>
  texts[Math.floor(random * texts.length)] ?? ''

// Texts of generated sample data: the tests, pull requests and authors of an invented product.

/** A part of the invented product. Its tests are all combinations of its subjects, behaviors and variants. */
export interface Area {
  readonly directory: string
  readonly suffix: string
  readonly owners: readonly string[]
  readonly variants: readonly string[]
  readonly subjects: readonly string[]
  readonly behaviors: readonly string[]
}

export const areas: readonly Area[] = [
  {
    directory: 'web/cart',
    suffix: '.test.ts',
    owners: ['@acme/web'],
    variants: ['', 'chromium', 'firefox', 'webkit'],
    subjects: ['Cart', 'Cart totals', 'Coupon field', 'Mini cart', 'Shipping estimate'],
    behaviors: [
      'adds an item while another is being removed',
      'keeps its items after a reload',
      'rounds tax to the nearest cent',
      'shows the free shipping bar',
      'survives a slow network',
      'merges with the cart of the signed-in customer',
      'disables the button while it is saving',
    ],
  },
  {
    directory: 'web/checkout',
    suffix: '.spec.ts',
    owners: ['@acme/web', '@acme/payments'],
    variants: ['chromium', 'firefox', 'webkit'],
    subjects: ['Checkout', 'Address form', 'Card form', 'Order summary', 'Receipt page'],
    behaviors: [
      'submits once on a double click',
      'recovers from a declined card',
      'focuses the first invalid field',
      'waits for the payment provider',
      'shows the order number',
      'goes back without losing what was typed',
    ],
  },
  {
    directory: 'api/orders',
    suffix: '_test.go',
    owners: ['@acme/orders'],
    variants: ['', 'linux-arm64', 'postgres-16'],
    subjects: ['TestOrderStore', 'TestOrderQueue', 'TestRefund', 'TestInvoiceExport'],
    behaviors: [
      'concurrent updates',
      'retries after a deadlock',
      'idempotent create',
      'expires holds',
      'page boundaries',
      'clock skew',
    ],
  },
  {
    directory: 'services/search/tests',
    suffix: '_test.py',
    owners: ['@acme/search'],
    variants: ['', 'py311', 'py312'],
    subjects: ['TestIndexer', 'TestSuggest', 'TestRanking', 'TestSynonyms'],
    behaviors: [
      'test_reindex_while_querying',
      'test_refresh_interval',
      'test_ties_are_stable',
      'test_unicode_folding',
      'test_cluster_failover',
      'test_timeout_is_partial',
    ],
  },
  {
    directory: 'mobile/src/androidTest/com/acme',
    suffix: 'Test.kt',
    owners: ['@acme/mobile'],
    variants: ['api-30', 'api-34', 'tablet'],
    subjects: ['LoginScreen', 'PushMessages', 'OfflineSync', 'Camera'],
    behaviors: [
      'rotatesWithoutLosingState',
      'opensFromNotification',
      'resumesUpload',
      'asksForPermissionOnce',
      'animatesIn',
    ],
  },
  {
    directory: 'infra/e2e',
    suffix: '.e2e.ts',
    owners: ['@acme/platform'],
    variants: ['us-east', 'eu-west', 'staging'],
    subjects: ['Smoke', 'Sign-in', 'Webhook delivery', 'Nightly import'],
    behaviors: [
      'reaches every region',
      'follows the redirect of the identity provider',
      'delivers in order',
      'finishes within its window',
      'rolls back on failure',
    ],
  },
]

export const healthReasons: Readonly<Record<'healthy' | 'flaky' | 'broken', readonly string[]>> = {
  healthy: ['No failure in the last 7 days'],
  flaky: [
    'Failed and passed on the same commit',
    'Passed when it was retried',
    'Failed on pull requests that did not touch it',
  ],
  broken: ['Failed in most runs of the last day', 'Fails on the main branch'],
}

export const failureMessages: readonly string[] = [
  'Timeout: waited 5000 ms for the element to be visible',
  'AssertionError: expected 3 to be 2',
  'ECONNRESET: socket hang up',
  'deadlock detected',
  'StaleElementReferenceError: the element is no longer attached',
  'context deadline exceeded',
  'TypeError: cannot read properties of undefined (reading "total")',
  'Expected status 200, got 502',
]

export const ticketUrlPrefixes: readonly string[] = [
  'https://acme.example/browse/WEB-',
  'https://acme.example/browse/CORE-',
]

export const authors: readonly string[] = [
  'ada',
  'grace',
  'alan',
  'barbara',
  'edsger',
  'frances',
  'linus',
  'margaret',
]

/** The changes of pull requests: the title of each, and the name of its head branch. */
export const changes: Readonly<Record<string, string>> = {
  'Fix the rounding of the cart': 'fix-cart',
  'Cache the suggestions of the search box': 'cache-suggestions',
  'Remove the old checkout': 'remove-old-checkout',
  'Update the payment client': 'update-payment-client',
  'Speed up the order export': 'speed-up-export',
  'Show the delivery date earlier': 'show-delivery-date',
  'Retry webhooks with back-off': 'retry-webhooks',
  'Rename the settings of the importer': 'rename-importer-settings',
}
