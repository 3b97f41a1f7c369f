import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import type { TestFolder } from './test-folder.ts'

/** A certificate authority of one's own, made by openssl. */
export type CertificateAuthority = ReturnType<typeof createCertificateAuthority>

/** A certificate and its key, as PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** Makes an authority below a folder; `name` keeps several apart. */
export function createCertificateAuthority({ path }: Pick<TestFolder, 'path'>, name: string) {
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { stdio: 'pipe' })
  const [file, keyFile] = [path(`${name}.pem`), path(`${name}.key`)]
  openssl('req', '-x509', ...newKey, '-keyout', keyFile, '-out', file, '-days', '2', '-subj', `/CN=${name}`)
  let issued = 0
  return {
    file,
    pem: readFileSync(file, 'utf8'),
    /** Returns a certificate that it signed, for names like `DNS:a.test` or `IP:127.0.0.1`. */
    issue(...names: readonly string[]): Certificate {
      const at = (ending: string) => path(`${name}-${issued}.${ending}`)
      issued++
      writeFileSync(at('ext'), `subjectAltName=${names.join(',')}\n`)
      openssl('req', ...newKey, '-keyout', at('key'), '-out', at('csr'), '-subj', '/CN=peer')
      const signed = ['-CA', file, '-CAkey', keyFile, '-CAcreateserial', '-days', '2', '-extfile', at('ext')]
      openssl('x509', '-req', '-in', at('csr'), '-out', at('pem'), ...signed)
      return { cert: readFileSync(at('pem'), 'utf8'), key: readFileSync(at('key'), 'utf8') }
    },
  }
}
