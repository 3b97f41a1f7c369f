import { usageError } from '../errors.ts'

/** The certificates in texts of PEM, each checked: one that is damaged, and a text without any, is a usage failure. */
export async function parseCertificates(authorities: readonly string[]): Promise<readonly string[]> {
  if (authorities.length === 0) return []
  const { X509Certificate } = await import('node:crypto')
  return authorities.flatMap(pem => {
    const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []
    try {
      for (const one of found) new X509Certificate(one)
    } catch {
      throw usageError('--ca-file: a certificate in it is damaged.', 'Get the file again; it is PEM.')
    }
    if (found.length > 0) return found
    throw usageError(
      '--ca-file: there is no certificate in it.',
      'It is PEM, and begins with -----BEGIN CERTIFICATE-----.',
    )
  })
}
