import { X509Certificate } from 'node:crypto'
import { usageError } from '../base/errors.ts'

/** A file with further certificate authorities. */
export interface AuthoritiesFile {
  /** Where it was named, for messages: `--ca-file`. */
  readonly origin: string
  readonly path: string
  /** Its text, in PEM. */
  readonly pem: string
}

/** Returns the certificates of files. Throws a usage error for one without a certificate, or with a damaged one. */
export function parseCertificates(authorities: readonly AuthoritiesFile[]): readonly string[] {
  return authorities.flatMap(({ origin, path, pem }) => {
    const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []
    try {
      for (const certificate of certificates) new X509Certificate(certificate)
    } catch {
      throw usageError(
        `${origin}: ${path} contains a damaged certificate.`,
        'Download the file again. The format is PEM.',
      )
    }
    if (certificates.length > 0) return certificates
    throw usageError(
      `${origin}: ${path} contains no certificate.`,
      'Use a PEM file. A certificate starts with -----BEGIN CERTIFICATE-----.',
    )
  })
}
