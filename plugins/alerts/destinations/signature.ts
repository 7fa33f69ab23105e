import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'

/** A new signing secret: `whsec_` and 32 random bytes in base64. */
export function generateSigningSecret(): string {
  return PREFIX + randomBytes(32).toString('base64')
}

/**
 * The signature headers of a body: `X-Service-Signature` of the specification, keyed with the whole text of the newest
 * secret, and those of Standard Webhooks 1.0.0, keyed with the decoded bytes, one signature per secret.
 * @param secrets newest first
 * @param at now, which is signed too, so that receivers can detect replays
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
