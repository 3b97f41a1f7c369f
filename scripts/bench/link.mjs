// A TLS 1.3 connection with latency: an HTTPS server with a self-signed certificate, behind a proxy that
// delays the data in both directions. A connection on loopback opens immediately, so the proxy also delays
// the first bytes of a client by one round trip, which is what opening a distant connection takes.
//
//     node link.mjs <directory for the certificate> <round trip in milliseconds>
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer as createSecureServer } from 'node:https'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { handleRequest } from './answers.mjs'

const [folder, roundTripMs] = [process.argv[2], Number(process.argv[3])]
const [key, cert] = ['link.key', 'link.pem'].map(name => join(folder, name))
const opensslArgs = [
  ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
  ...['-subj', '/CN=link', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert],
]
execFileSync('openssl', opensslArgs, { stdio: 'ignore' })

/** Starts a server on a free port of loopback; resolves to the port. */
const listen = server =>
  new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(server.address().port)))

const service = createSecureServer(
  { key: readFileSync(key), cert: readFileSync(cert), minVersion: 'TLSv1.3' },
  handleRequest,
)
const port = await listen(service)

/**
 * Forwards all data in order, half a round trip later and not before the time `notBefore`
 * (`performance.now()`).
 */
function forward(source, sink, notBefore) {
  const delay = work => setTimeout(work, Math.max(0, notBefore - performance.now()) + roundTripMs / 2)
  source.on('data', chunk => delay(() => sink.write(chunk)))
  source.on('end', () => delay(() => sink.end()))
  source.on('error', () => sink.destroy())
}

const proxy = createServer({ noDelay: true, allowHalfOpen: true }, client => {
  const upstream = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true })
  forward(client, upstream, performance.now() + roundTripMs)
  forward(upstream, client, 0)
})
process.send({ baseUrl: `https://127.0.0.1:${await listen(proxy)}/v1`, caFile: cert })
process.once('disconnect', () => process.exit())
