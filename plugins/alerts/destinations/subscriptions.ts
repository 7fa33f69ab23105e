import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Subscriptions } from '../api.ts'
import type { Deps } from '../deps.ts'

export function makeSubscriptions({
  db,
  vault,
  config,
}: Pick<Deps, 'db' | 'vault' | 'config'>): Subscriptions {
  const unsubscribed = async (emails: readonly string[]) => {
    const stored = await db.statement<{ email: string }>(
      'select email from unsubscribed where email = any(cast(:emails as text[]))',
      { emails: emails.map(normalizeEmail) },
    )
    return new Set(stored.map(({ email }) => email))
  }
  return {
    linkFor(email) {
      const query = new URLSearchParams({
        email: normalizeEmail(email),
        token: unsubscribeToken(email, vault.keys[0]!),
      })
      return `${config.baseUrl}/api/public/unsubscribe?${query}`
    },
    // All keys are compared, each in constant time, so that the duration leaks nothing.
    isToken: (email, token) =>
      vault.keys.map(key => isSameToken(token, unsubscribeToken(email, key))).includes(true),
    isSubscribed: async email => !(await unsubscribed([email])).has(normalizeEmail(email)),
    async subscribe(email) {
      await db.statement('delete from unsubscribed where email = :email', {
        email: normalizeEmail(email),
      })
    },
    async unsubscribe(email) {
      await db.statement('insert into unsubscribed (email) values (:email) on conflict do nothing', {
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
