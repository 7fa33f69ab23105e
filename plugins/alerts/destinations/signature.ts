import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'

/** A new signing secret: `whsec_` and 32 random bytes in base64. */
export function generateSigningSecret(): string {
  return PREFIX + randomBytes(32).toString('base64')
}

/**
 * The headers that prove where a body comes from: the specification's `X-Service-Signature`, keyed with the
 * whole text of the newest secret, and those of Standard Webhooks 1.0.0, keyed with the decoded bytes, one
 * signature for each secret.
 * @param secrets newest first
 * @param at now, which goes into the signature so that a replay can be told
 */
export function signBody(
  body: string,
  id: string,
  secrets: readonly [string, ...string[]],
  at: Date,
): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1000)
  const signed = secrets.map(secret => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'x-service-signature': `sha256=${createHmac('sha256', secrets[0]).update(body).digest('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signed.join(' '),
  }
}
