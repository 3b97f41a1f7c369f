import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { memoize } from '../../src/base/scheduling.ts'
import { createCertificateAuthority } from '../support/certificates.ts'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { mergeq } from '../support/harness.ts'
import { createHostClient, nodeHost } from '../support/library-client.ts'
import { testWith } from '../support/programs.ts'
import { startTestServer } from '../support/service.ts'
import { runningQueue } from '../support/settings-sources.ts'
import { openTestFolder } from '../support/test-folder.ts'

const kept = closeAfterTests()
const line = 'queue get -R acme/web -b main --json --retries 0'
const damaged = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'

/** The authority of a company, and a certificate that it signed. */
function createCompany(name: string) {
  const authority = createCertificateAuthority(kept(openTestFolder()), name)
  return { authority, tls: authority.issue('IP:127.0.0.1') }
}
const company = memoize(() => createCompany('company'))
const another = memoize(() => createCompany('another'))

/** A service whose certificate the authority of its company has signed. */
async function startSecureService({ authority, tls } = company()) {
  const service = kept(await startTestServer({ tls, answer: runningQueue }))
  return { authority, service, env: { MERGEQ_BASE_URL: service.baseUrl() } }
}

/** Reads a queue with the files of this machine. */
const read = (env: Readonly<Record<string, string>>, command = line) =>
  mergeq(command, { env, realFiles: true })

describe('SSL_CERT_FILE', () => {
  testWith('openssl')('reaches a service of its authorities, which nobody reaches without it', async () => {
    const { authority, service, env } = await startSecureService()
    const refused = await read(env)
    expect(refused).toMatchObject({ code: 7, out: '' })
    expect(JSON.parse(refused.err).error.message).toMatch(
      /^The certificate of 127\.0\.0\.1:\d+ is from an authority that is not trusted/,
    )
    expect(service.requests).toEqual([])
    const reached = await read({ ...env, SSL_CERT_FILE: authority.file })
    expect(reached).toMatchObject({ code: 0, err: '' })
    expect(service.requests).toHaveLength(1)
  })

  testWith('openssl')('adds its authorities to those of NODE_EXTRA_CA_CERTS', async () => {
    const [first, second] = [await startSecureService(), await startSecureService(another())]
    const files = { SSL_CERT_FILE: first.authority.file, NODE_EXTRA_CA_CERTS: second.authority.file }
    for (const { env } of [first, second])
      expect(await read({ ...env, ...files })).toMatchObject({ code: 0, err: '' })
  })

  testWith('openssl')('is not read where MERGEQ_CA_FILE or --ca-file gives a file', async () => {
    const [own, other] = [await startSecureService(), await startSecureService(another())]
    const ssl = { SSL_CERT_FILE: other.authority.file }
    const given = { ...ssl, MERGEQ_CA_FILE: own.authority.file }
    const withOption = `${line} --ca-file ${own.authority.file}`
    const codes = [
      await read({ ...own.env, ...given }),
      await read({ ...other.env, ...given }),
      await read({ ...own.env, ...ssl }, withOption),
      await read({ ...other.env, ...ssl }, withOption),
    ].map(({ code }) => code)
    expect(codes).toEqual([0, 7, 0, 7])
  })

  testWith('openssl')('that is missing is one warning with TLS, and nothing without it', async () => {
    const { authority, env } = await startSecureService()
    const missing = { SSL_CERT_FILE: '/etc/none.pem' }
    const { err } = await read({ ...env, ...missing, NODE_EXTRA_CA_CERTS: authority.file })
    expect(err).toContain('SSL_CERT_FILE: /etc/none.pem cannot be read; its certificates are not used.')
    const plain = await mergeq(line, { env: missing, answer: runningQueue })
    expect(plain).toMatchObject({ code: 0, err: '' })
  })

  const secure = { MERGEQ_BASE_URL: 'https://127.0.0.1:9/v1' }
  const cut = damaged.slice(0, 30)
  const der = '0\uFFFD\u0003'
  test.each([
    ['SSL_CERT_FILE', 'without a certificate', 'hello\n', 'contains no certificate.'],
    ['SSL_CERT_FILE', 'with a damaged certificate', damaged, 'contains a damaged certificate.'],
    ['MERGEQ_CA_FILE', 'that is empty', '', 'contains no certificate.'],
    ['MERGEQ_CA_FILE', 'that is cut', cut, 'is cut: a certificate has no END line.'],
    ['MERGEQ_CA_FILE', 'in DER', der, 'is in DER, not in PEM.'],
  ])('%s with a file %s is refused before anything is sent', async (name, _, text, says) => {
    const files = { '/etc/company.pem': text }
    const ran = await mergeq(line, { env: { ...secure, [name]: '/etc/company.pem' }, files })
    expect(ran).toMatchObject({ code: 2, out: '' })
    expect(JSON.parse(ran.err.trimEnd().split('\n').at(-1) ?? '').error.message).toBe(
      `${name}: /etc/company.pem ${says}`,
    )
  })

  test.each(['SSL_CERT_FILE', 'MERGEQ_CA_FILE'])('%s is not read without TLS', async name => {
    const opened: string[] = []
    const realFiles = {
      ...nodeHost.files,
      async read(path: string) {
        opened.push(path)
        return undefined
      },
    }
    const env = { [name]: '/etc/company.pem' }
    expect(await mergeq(line, { env, realFiles, answer: runningQueue })).toMatchObject({ code: 0, err: '' })
    expect(opened).not.toContain('/etc/company.pem')
  })

  testWith('openssl')('that is cut is a warning, and its whole certificates are used', async () => {
    const { authority, env } = await startSecureService()
    const files = { '/etc/company.pem': `${authority.pem}${authority.pem.slice(0, 60)}` }
    const ran = await mergeq(line, { env: { ...env, SSL_CERT_FILE: '/etc/company.pem' }, files })
    expect(ran).toMatchObject({
      code: 0,
      err: expect.stringContaining('is cut: a certificate has no END line'),
    })
    const own = await mergeq(line, { env: { ...env, MERGEQ_CA_FILE: '/etc/company.pem' }, files })
    expect(own.code).toBe(2)
  })

  testWith('openssl')('reads TRUSTED CERTIFICATE, which openssl writes with its trust', async () => {
    const { authority, env } = await startSecureService()
    const trusted = execFileSync('openssl', ['x509', '-in', authority.file, '-addtrust', 'serverAuth'], {
      encoding: 'utf8',
    })
    expect(trusted).toContain('BEGIN TRUSTED CERTIFICATE')
    const files = { '/etc/company.pem': trusted }
    const ran = await mergeq(line, { env: { ...env, MERGEQ_CA_FILE: '/etc/company.pem' }, files })
    expect(ran).toMatchObject({ code: 0, err: '' })
  })

  testWith('openssl')('is not blamed for a file of NODE_EXTRA_CA_CERTS', async () => {
    const { pem } = company().authority
    const files = { '/etc/company.pem': pem, '/etc/extra.pem': damaged }
    const env = { ...secure, SSL_CERT_FILE: '/etc/company.pem', NODE_EXTRA_CA_CERTS: '/etc/extra.pem' }
    const ran = await mergeq(line, { env, files })
    expect(ran).toMatchObject({ code: 2, requests: [] })
    expect(JSON.parse(ran.err).error.message).toBe(
      'NODE_EXTRA_CA_CERTS: /etc/extra.pem contains a damaged certificate.',
    )
  })

  test('MERGEQ_CA_FILE that is missing is refused, and SSL_CERT_FILE is not mentioned', async () => {
    const env = { ...secure, SSL_CERT_FILE: '/etc/none.pem', MERGEQ_CA_FILE: '/etc/own.pem' }
    const ran = await mergeq(line, { env })
    expect(ran).toMatchObject({ code: 2, requests: [] })
    expect(ran.err).toContain('MERGEQ_CA_FILE: the file /etc/own.pem does not exist')
    expect(ran.err).not.toContain('SSL_CERT_FILE')
  })

  testWith('openssl')('is used by the library, but not with discover: false or caFile', async () => {
    const { authority, service } = await startSecureService()
    const other = another().authority
    const host = { ...nodeHost, env: { ...nodeHost.env, SSL_CERT_FILE: authority.file } }
    const settings = {
      baseUrl: service.baseUrl(),
      token: 'tok_4f2a9c1e77',
      repo: 'acme/web',
      targetBranch: 'main',
      retries: 0,
    }
    const untrusted = { kind: 'unavailable', message: expect.stringContaining('not trusted') }
    expect(await createHostClient(settings, host).getQueue()).toMatchObject({ state: 'RUNNING' })
    for (const options of [{ discover: false }, { caFile: other.file }])
      await expect(createHostClient({ ...settings, ...options }, host).getQueue()).rejects.toMatchObject(
        untrusted,
      )
    expect(service.requests).toHaveLength(1)
  })
})
