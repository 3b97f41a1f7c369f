// A link with latency and TLS 1.3: an https server with a certificate of its own, behind a proxy that holds back what
// passes in either direction. A connection on loopback stands at once, so its round trip is counted here: the first bytes
// of a client are held back as if they could not have been sent before one had passed.
//
//     node link.mjs <folder> <milliseconds of round trip>
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer as createSecureServer } from 'node:https'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { answer } from './answers.mjs'

const [folder, trip] = [process.argv[2], Number(process.argv[3])]
const [key, cert] = ['link.key', 'link.pem'].map(name => join(folder, name))
const words = [
  ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
  ...['-subj', '/CN=link', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert],
]
execFileSync('openssl', words, { stdio: 'ignore' })

const listening = server =>
  new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(server.address().port)))

const service = createSecureServer(
  { key: readFileSync(key), cert: readFileSync(cert), minVersion: 'TLSv1.3' },
  answer,
)
const port = await listening(service)

/** Hands on what comes, in order, half a round trip later and not before `from`. */
function carry(source, sink, from) {
  const later = work => setTimeout(work, Math.max(0, from - performance.now()) + trip / 2)
  source.on('data', piece => later(() => sink.write(piece)))
  source.on('end', () => later(() => sink.end()))
  source.on('error', () => sink.destroy())
}

const link = createServer({ noDelay: true, allowHalfOpen: true }, near => {
  const far = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true })
  carry(near, far, performance.now() + trip)
  carry(far, near, 0)
})
process.send({ baseUrl: `https://127.0.0.1:${await listening(link)}/v1`, caFile: cert })
process.once('disconnect', () => process.exit())
