import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Server } from '@hapi/hapi'

/** Mail subscriptions of addresses, which belong to no company. */
export interface Subscriptions {
  /** The page that unsubscribes an address, or subscribes it again. */
  linkFor(email: string): string
  /** Whether a token belongs to an address: made with any of the present keys. */
  isToken(email: string, token: string): boolean
  isSubscribed(email: string): Promise<boolean>
  subscribe(email: string): Promise<void>
  unsubscribe(email: string): Promise<void>
  /** The unsubscribed ones among some addresses, in lower case. */
  unsubscribed(emails: readonly string[]): Promise<ReadonlySet<string>>
}

export function makeSubscriptions(server: Server): Subscriptions {
  const unsubscribed = async (emails: readonly string[]) => {
    const found = await server.db.statement<{ email: string }>(
      'select email from unsubscribed where email = any(cast(:emails as text[]))',
      { emails: emails.map(normalizeEmail) },
    )
    return new Set(found.map(({ email }) => email))
  }
  return {
    linkFor(email) {
      const query = new URLSearchParams({
        email: normalizeEmail(email),
        token: unsubscribeToken(email, server.vault.keys[0]!),
      })
      return `${server.config.baseUrl}/api/public/unsubscribe?${query}`
    },
    // All keys are compared, each in constant time, so that the duration leaks nothing.
    isToken: (email, token) =>
      server.vault.keys.map(key => isSameToken(token, unsubscribeToken(email, key))).includes(true),
    isSubscribed: async email => !(await unsubscribed([email])).has(normalizeEmail(email)),
    async subscribe(email) {
      await server.db.statement('delete from unsubscribed where email = :email', {
        email: normalizeEmail(email),
      })
    },
    async unsubscribe(email) {
      await server.db.statement('insert into unsubscribed (email) values (:email) on conflict do nothing', {
        email: normalizeEmail(email),
      })
    },
    unsubscribed,
  }
}

/** Addresses are stored and compared in lower case. */
export function normalizeEmail(email: string): string {
  return email.toLowerCase()
}

function unsubscribeToken(email: string, key: Buffer): string {
  return createHmac('sha256', key).update(normalizeEmail(email)).digest('hex')
}

function isSameToken(given: string, token: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(token)]
  return one.length === other.length && timingSafeEqual(one, other)
}
