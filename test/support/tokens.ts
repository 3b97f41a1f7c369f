import type { Answer, Seen } from './harness.ts'

export const token = 'tok_4f2a9c1e77d0b6aa'
export const otherToken = 'tok_b1d85e03c62f49bb'

/** The origin of the hosted service, for which a token is stored by default. */
export const hosted = 'https://api.trunk.io'

/** The ways in which a token can be read out of a text; none is what every test wants. */
export function encodingsFound(text: string, secret: string): readonly string[] {
  const unescaped = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  const base64 = (text.match(/[\w+/-]{12,}/g) ?? []).flatMap(run =>
    [0, 1, 2, 3].map(shift => Buffer.from(run.slice(shift), 'base64').toString('latin1')),
  )
  return [
    ...(text.includes(secret) ? ['raw'] : []),
    ...(text.replace(/\\(.)/g, '$1').includes(secret) ? ['escaped'] : []),
    ...(unescaped.includes(secret) ? ['percent-encoded'] : []),
    ...(base64.some(plain => plain.includes(secret)) ? ['base64'] : []),
  ]
}

/** A service that takes the good token and no other. */
export const takesToken = ({ headers, path }: Seen): Answer => {
  if (headers['x-api-token'] !== token) return { status: 401, body: 'Unauthorized' }
  return path.startsWith('/v1/getMergeQueueMetrics')
    ? {}
    : { body: '{"state":"RUNNING","enqueuedPullRequests":[]}' }
}

/** A service that takes no token, and says which one came. */
export const echoesToken = ({ headers }: Seen): Answer => ({
  status: 400,
  body: `not ${headers['x-api-token']}`,
})
