/** The JSON that a webhook destination gets. New types and fields will be added: ignore what you do not know. */
export interface WebhookEvent {
  event_type: 'alert.triggered' | 'alert.resolved' | 'alert.test' | (string & {})
  alert: {
    id: string
    rule_name: string
    alert_type: string
    status: string
    severity: 'info' | 'warning' | 'critical'
    /** One sentence for people. */
    title: string
    created_at: string
    /** Why it is over, or why it is sent again. */
    reason?: string
    /** The id of the alert that replaced this one because it got worse. */
    superseded_by?: string
    /** When it was sent again, with the same id, since a snooze had ended. */
    reminded_at?: string
  }
  event: {
    /** `schema_change`, `freshness_violation` and others. */
    type: string
    change_type?: string
    asset: { qualified_name: string; asset_type: string }
    details: object
  }
  links: { alert_url: string; asset_url: string }
}

/** A delivery that must not be trusted; the message says why. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

/** `Headers`, or the headers of a request of `node:http`. */
export type WebhookHeaders =
  { get(name: string): string | null } | { readonly [name: string]: string | readonly string[] | undefined }

export interface VerifyOptions {
  /** How long ago, by the clock of the receiver, a delivery may have been sent; defaults to 300. */
  toleranceSeconds?: number
  /** Now, in milliseconds; defaults to the clock. */
  now?: number
}

/**
 * Verifies a delivery by its headers of Standard Webhooks, and parses it. The comparison takes constant time.
 * @param body the bytes that arrived, or their text: JSON that was parsed and serialised again has other bytes
 * @param secrets the signing secret of the destination (`whsec_…`), or several while it is being rotated
 * @throws WebhookError if it must not be trusted; another error if a secret is not base64
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, now = Date.now() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map(name =>
    readHeader(headers, `webhook-${name}`),
  )
  if (!id || !timestamp || !signatures) throw new WebhookError('No webhook-* headers')
  const encoder = new TextEncoder()
  const bytes = typeof body === 'string' ? encoder.encode(body) : body
  const signed = new Uint8Array([...encoder.encode(`${id}.${timestamp}.`), ...bytes])
  if (!(await isSigned(signed, signatures, [secrets].flat())))
    throw new WebhookError('No signature fits the body')
  // A time that is no number is not near either.
  if (!(Math.abs(now / 1000 - Number(timestamp)) <= toleranceSeconds))
    throw new WebhookError(`It was not sent within ${toleranceSeconds} seconds`)
  return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent
}

/** Whether any of the signatures, `v1,<base64>` each, was made with any of the secrets. */
async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  signatures: string,
  secrets: readonly string[],
): Promise<boolean> {
  for (const secret of secrets) {
    const bytes = decodeBase64(secret.replace(/^whsec_/, ''))
    // No key can be imported from no bytes.
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify'])
    for (const [, text = ''] of signatures.matchAll(/(?<!\S)v1,(\S+)/g))
      if (await crypto.subtle.verify('HMAC', key, decodeBase64(text), signed)) return true
  }
  return false
}

/** Returns no bytes for what is not base64. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), character => character.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}

/** Names of headers are in any case. */
function readHeader(headers: WebhookHeaders, name: string): string {
  if (typeof headers.get === 'function') return headers.get(name) ?? ''
  return String(Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1] ?? '')
}
