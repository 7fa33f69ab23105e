import tls from 'node:tls'
import { generate } from 'selfsigned'

export type CertificateKind = 'trusted' | 'self-signed' | 'expired' | 'wrong-host' | 'unknown-authority'

/** A private key and its certificate, in PEM form. */
export interface Pair {
  key: string
  cert: string
}

let made: Promise<Pair> | undefined

/** The authority of this process. Node trusts it from here on, as it does one of NODE_EXTRA_CA_CERTS. */
export function authority(): Promise<Pair> {
  // Named after the process: OpenSSL tries only the first of two trusted authorities that have one name.
  made ??= makeAuthority(`Tidemark tests ${process.pid}`).then(pair => {
    tls.setDefaultCACertificates([...tls.getCACertificates('default'), pair.cert])
    return pair
  })
  return made
}

async function makeAuthority(commonName: string): Promise<Pair> {
  const pems = await generate([{ name: 'commonName', value: commonName }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  })
  return { key: pems.private, cert: pems.cert }
}

/** A certificate of a server on this machine, for `localhost`, 127.0.0.1 and the names given. */
export async function certify(
  kind: CertificateKind = 'trusted',
  names: readonly string[] = [],
): Promise<Pair> {
  const signer = kind === 'unknown-authority' ? await makeAuthority('Unknown authority') : await authority()
  const day = 24 * 3600 * 1000
  const pems = await generate([{ name: 'commonName', value: 'receiver' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ...(kind !== 'self-signed' && { ca: signer }),
    ...(kind === 'expired' && {
      notBeforeDate: new Date(Date.now() - 9 * day),
      notAfterDate: new Date(Date.now() - day),
    }),
    extensions: [
      {
        name: 'subjectAltName',
        altNames:
          kind === 'wrong-host'
            ? [{ type: 2, value: 'example.com' }]
            : [
                { type: 2, value: 'localhost' },
                { type: 7, ip: '127.0.0.1' },
                ...names.map(value => ({ type: 2 as const, value })),
              ],
      },
    ],
  })
  return { key: pems.private, cert: pems.cert }
}
