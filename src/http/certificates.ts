import { X509Certificate } from 'node:crypto'
import { usageError } from '../base/errors.ts'
import type { ServiceHost } from '../host/host.ts'
import { shellWord } from '../values/suggested-command.ts'

export interface AuthoritiesOptions extends Pick<ServiceHost, 'env' | 'files'> {
  /** The file that the user names, and what names it: `--ca-file`. */
  readonly caFile: { readonly value: string; readonly origin: string } | undefined
  warnOnce(text: string): Promise<void>
}

interface AuthoritiesFile {
  readonly origin: string
  readonly path: string
  readonly pem: string
}

/** Returns the certificates of further authorities, in PEM. Throws a usage error for a file that cannot be used. */
export async function readCertificates(options: AuthoritiesOptions): Promise<readonly string[]> {
  const certificates: string[] = []
  for (const file of await readAuthorities(options))
    certificates.push(...(await parseCertificates(file, options)))
  return certificates
}

/** Reads the file of the user, or else that of SSL_CERT_FILE, and that of NODE_EXTRA_CA_CERTS, which they replace. */
async function readAuthorities({
  caFile,
  env,
  files,
  warnOnce,
}: AuthoritiesOptions): Promise<readonly AuthoritiesFile[]> {
  const { SSL_CERT_FILE: system = '', NODE_EXTRA_CA_CERTS: extra = '' } = env
  const { value: path, origin } = caFile ?? { value: system, origin: 'SSL_CERT_FILE' }
  if (path === '') return []
  const hint = 'Specify a PEM file with certificates.'
  const pem = await files.read(path).catch((error: Error) => {
    if (caFile !== undefined) throw usageError(`${origin}: ${path} cannot be read: ${error.message}.`, hint)
  })
  if (pem === undefined) {
    if (caFile !== undefined) throw usageError(`${origin}: the file ${path} does not exist.`, hint)
    await warnOnce(`${origin}: ${path} cannot be read; its certificates are not used.`)
    return []
  }
  const others = extra === '' || extra === path ? undefined : await files.read(extra).catch(() => undefined)
  return [
    { origin, path, pem },
    ...(others ? [{ origin: 'NODE_EXTRA_CA_CERTS', path: extra, pem: others }] : []),
  ]
}

const label = '(?:TRUSTED |X509 )?CERTIFICATE-----'
const wholeCertificate = new RegExp(`-----BEGIN ${label}[^-]*-----END ${label}`, 'g')

/**
 * Throws a usage error for a file in DER, without a certificate or with a damaged one, and for one that was cut; what is left
 * of a file of the system is used, with a warning.
 */
async function parseCertificates(
  { origin, path, pem }: AuthoritiesFile,
  { warnOnce }: AuthoritiesOptions,
): Promise<readonly string[]> {
  // DER, read as text, is a sequence whose length has two bytes, which are no text.
  if (pem.startsWith('0\uFFFD'))
    throw usageError(
      `${origin}: ${path} is in DER, not in PEM.`,
      `To convert it, run: openssl x509 -inform der -in ${shellWord(path)} -out ca.pem`,
    )
  const certificates = pem.match(wholeCertificate) ?? []
  const countLines = (word: string) => pem.split(`-----${word} `).length
  if (countLines('BEGIN') > countLines('END')) {
    const problem = `${origin}: ${path} is cut: a certificate has no END line.`
    if (origin !== 'SSL_CERT_FILE') throw usageError(problem, 'Download the file again.')
    await warnOnce(problem)
  } else if (certificates.length === 0)
    throw usageError(
      `${origin}: ${path} contains no certificate.`,
      'Use a PEM file. A certificate starts with -----BEGIN CERTIFICATE-----.',
    )
  try {
    for (const certificate of certificates) new X509Certificate(certificate)
  } catch {
    throw usageError(
      `${origin}: ${path} contains a damaged certificate.`,
      'Download the file again. The format is PEM.',
    )
  }
  return certificates
}
