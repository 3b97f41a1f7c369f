import { type MergeqError, usageError } from '../base/errors.ts'
import type { Config } from '../config/settings.ts'
import type { ServiceHost } from '../host/host.ts'
import { type AuthoritiesFile, parseCertificates } from '../http/certificates.ts'
import type { Logger } from '../output/logger.ts'
import { shellWord } from '../values/suggested-command.ts'

/** Returns the certificates of further authorities, in PEM. Throws a usage error for a file that cannot be used. */
export async function readCertificates(
  settings: Config,
  host: ServiceHost,
  logger: Pick<Logger, 'warnOnce'>,
): Promise<readonly string[]> {
  const certificates: string[] = []
  for (const file of await readAuthorities(settings, host, logger)) {
    if (isDer(file.pem)) throw derError(file)
    certificates.push(...(await parseCertificates(file, logger.warnOnce)))
  }
  return certificates
}

/** Whether a text was read from DER: a sequence whose length has two bytes, which are no text. */
const isDer = (text: string): boolean => text.startsWith('0\uFFFD')

const derError = ({ origin, path }: AuthoritiesFile): MergeqError =>
  usageError(
    `${origin}: ${path} is in DER, not in PEM.`,
    `To convert it, run: openssl x509 -inform der -in ${shellWord(path)} -out ca.pem`,
  )

/** Reads the authorities of the settings, or else of SSL_CERT_FILE, and those of NODE_EXTRA_CA_CERTS, which they replace. */
async function readAuthorities(
  settings: Config,
  { env, files }: ServiceHost,
  logger: Pick<Logger, 'warnOnce'>,
): Promise<readonly AuthoritiesFile[]> {
  const own = await settings.read('caFile')
  const { SSL_CERT_FILE: system = '', NODE_EXTRA_CA_CERTS: extra = '' } = env
  const path = own ?? system
  if (path === '') return []
  const { origin = 'SSL_CERT_FILE' } = (await settings.find('caFile')) ?? {}
  const hint = 'Specify a PEM file with certificates.'
  const pem = await files.read(path).catch((error: Error) => {
    if (own !== undefined) throw usageError(`${origin}: ${path} cannot be read: ${error.message}.`, hint)
  })
  if (pem === undefined) {
    if (own !== undefined) throw usageError(`${origin}: the file ${path} does not exist.`, hint)
    await logger.warnOnce(`${origin}: ${path} cannot be read; its certificates are not used.`)
    return []
  }
  const others = extra === '' || extra === path ? undefined : await files.read(extra).catch(() => undefined)
  return [
    { origin, path, pem, isOfSystem: own === undefined },
    ...(others ? [{ origin: 'NODE_EXTRA_CA_CERTS', path: extra, pem: others }] : []),
  ]
}
