import { X509Certificate } from 'node:crypto'
import { usageError } from '../base/errors.ts'

export interface AuthoritiesFile {
  /** Where it was named, for messages: `--ca-file`. */
  readonly origin: string
  readonly path: string
  readonly pem: string
  /** Whether the system names it, and not the user. */
  readonly isOfSystem?: boolean
}

const label = '(?:TRUSTED |X509 )?CERTIFICATE-----'
const wholeCertificate = new RegExp(`-----BEGIN ${label}[^-]*-----END ${label}`, 'g')

/**
 * Returns the certificates of a file. Throws a usage error for one without a certificate, or with a damaged one, and for one
 * that was cut; what is left of a file of the system is used, with a warning.
 */
export async function parseCertificates(
  { origin, path, pem, isOfSystem = false }: AuthoritiesFile,
  warn: (text: string) => Promise<void>,
): Promise<readonly string[]> {
  const certificates = pem.match(wholeCertificate) ?? []
  const countLines = (word: string) => pem.split(`-----${word} `).length
  if (countLines('BEGIN') > countLines('END')) {
    const problem = `${origin}: ${path} is cut: a certificate has no END line.`
    if (!isOfSystem) throw usageError(problem, 'Download the file again.')
    await warn(problem)
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
