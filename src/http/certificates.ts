import { usageError } from '../errors.ts'

/** Throws a usage error for a text without a certificate and for a damaged certificate. */
export async function parseCertificates(authorities: readonly string[]): Promise<readonly string[]> {
  if (authorities.length === 0) return []
  const { X509Certificate } = await import('node:crypto')
  return authorities.flatMap(pem => {
    const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []
    try {
      for (const certificate of certificates) new X509Certificate(certificate)
    } catch {
      throw usageError(
        '--ca-file: the file contains a damaged certificate.',
        'Download the file again. The format is PEM.',
      )
    }
    if (certificates.length > 0) return certificates
    throw usageError(
      '--ca-file: the file contains no certificate.',
      'Use a PEM file. A certificate starts with -----BEGIN CERTIFICATE-----.',
    )
  })
}
