import { randomInt } from 'node:crypto'
import { v7 as uuid, validate as isUuid } from 'uuid'
import type { Scope } from '../../../server/http/access.ts'
import type { AuditEvent } from '../../../server/http/audit.ts'
import type { Plan } from '../../../server/settings/config.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import { PLAN_LIMITS } from '../../../server/http/limits.ts'
import { newestFirst, type Page } from '../../../server/http/page.ts'
import { lockCompany } from '../locks.ts'
import { ApiKey } from '../models.ts'
import { sha256 } from '../sign-in/tokens.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const LIVE_KEY_PREFIX = 'aa_live_'
const SECRET_LENGTH = 40
const SHOWN_CHARACTERS = 4

/** Creates a key. Only its hash is stored. @throws 409 `KEY_LIMIT` */
export async function createKey(
  trx: Transaction,
  input: { name: string; scope: Scope; expiresAt?: Date | null },
): Promise<{ key: string; row: ApiKey; plan: Plan }> {
  // The lock keeps two concurrent requests from both taking the last place.
  const { plan } = await lockCompany(trx)
  const { maxKeys } = PLAN_LIMITS[plan]
  if (maxKeys !== null && (await countActiveKeys(trx)) >= maxKeys) {
    const message = `The plan ${plan} allows ${maxKeys} API key(s): revoke one, or change the plan`
    throw apiError('KEY_LIMIT', message, { max_keys: maxKeys })
  }
  const secret = Array.from({ length: SECRET_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  const key = LIVE_KEY_PREFIX + secret
  const row = await ApiKey.query(trx)
    .insert({
      id: uuid(),
      name: input.name,
      scope: input.scope,
      keyHash: sha256(key),
      keyPrefix: LIVE_KEY_PREFIX + secret.slice(0, SHOWN_CHARACTERS),
      keySuffix: secret.slice(-SHOWN_CHARACTERS),
      expiresAt: input.expiresAt ?? null,
    })
    .returning('*')
  return { key, row, plan }
}

/** Keys that are neither revoked nor expired. */
export function countActiveKeys(trx: Transaction): Promise<number> {
  return ApiKey.query(trx)
    .whereNull('revokedAt')
    .whereRaw('(expires_at is null or expires_at > now())')
    .resultSize()
}

/** All keys, or those that are not revoked, newest first, or a page of them. */
export async function listKeys(
  trx: Transaction,
  { page, isRevokedIncluded = true }: { page?: Page; isRevokedIncluded?: boolean } = {},
): Promise<{ rows: ApiKey[]; total: number }> {
  const query = ApiKey.query(trx).orderBy(newestFirst('createdAt', 'id'))
  if (!isRevokedIncluded) void query.whereNull('revokedAt')
  const total = await query.clone().resultSize()
  return { rows: await (page ? query.limit(page.limit).offset(page.offset) : query), total }
}

/** @throws 404 `API_KEY_NOT_FOUND` */
export async function findKey(trx: Transaction, id: string): Promise<ApiKey> {
  const row = isUuid(id) ? await ApiKey.query(trx).findById(id) : undefined
  if (!row)
    throw apiError('API_KEY_NOT_FOUND', 'There is no such API key: GET /api/v1/api-keys lists them', {
      key_id: id,
    })
  return row
}

/** Revoking a key again changes nothing and is not audited. @throws 404 `API_KEY_NOT_FOUND` */
export async function revokeKey(
  trx: Transaction,
  id: string,
  auditEvent: (event: AuditEvent) => Promise<unknown>,
): Promise<ApiKey> {
  await findKey(trx, id)
  const revoked = await ApiKey.query(trx)
    .where({ id })
    .whereNull('revokedAt')
    .patch({ revokedAt: new Date() })
  const row = await findKey(trx, id)
  if (revoked > 0) await auditEvent(keyAuditEvent('revoked', row))
  return row
}

export function keyAuditEvent(happened: 'created' | 'revoked', key: ApiKey): AuditEvent {
  const { id, name, scope, keyPrefix, keySuffix, expiresAt } = key
  return {
    action: `api_key.${happened}`,
    target: { type: 'api_key', id },
    details: { name, scope, display_key: `${keyPrefix}...${keySuffix}`, expires_at: expiresAt },
  }
}
