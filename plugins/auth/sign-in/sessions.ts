import { timingSafeEqual } from 'node:crypto'
import type { Request } from '@hapi/hapi'
import { v7 as uuid } from 'uuid'
import { SCOPE_OF_ROLE, type Caller, type Role } from '../../../server/http/access.ts'
import type { Plan } from '../../../server/settings/config.ts'
import { audit, requestOrigin } from '../../../server/http/audit.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import type { AuthDeps } from '../deps.ts'
import {
  ACCESS_TOKEN_SECONDS,
  createRefreshToken,
  nextRefreshToken,
  possibleSuccessors,
  parseRefreshToken,
  signAccessToken,
  type RefreshToken,
} from './tokens.ts'
import { LOCK_SESSION } from '../locks.ts'

export interface SessionTokens {
  access_token: string
  refresh_token: string
  token_type: 'bearer'
  /** Seconds until the access token ends. */
  expires_in: number
}

/** Sessions of a user; the oldest end, since a refusal would lock the user out. */
const MAX_SESSIONS = 100

export async function openSession(
  deps: AuthDeps,
  trx: Transaction,
  user: { id: string; companyId: string },
): Promise<SessionTokens> {
  const sessionId = uuid()
  const refresh = createRefreshToken(deps.vault, sessionId)
  await rows(
    trx,
    `insert into sessions (id, company_id, user_id, refresh_hash, expires_at)
     values (:id, :company_id, :user_id, :hash, now() + interval '30 days')`,
    { id: sessionId, company_id: user.companyId, user_id: user.id, hash: refresh.hash },
  )
  await rows(
    trx,
    `delete from sessions where company_id = :company_id and id in (
       select id from sessions where company_id = :company_id and user_id = :user_id
        order by created_at desc, id desc offset :most)`,
    { company_id: user.companyId, user_id: user.id, most: MAX_SESSIONS },
  )
  return issueTokens(deps, user.id, refresh)
}

interface SessionState {
  companyId: string
  userId: string
  refreshHash: Buffer
  previousHash: Buffer | null
  isAlive: boolean
  isJustRotated: boolean
  /** Whether its refresh token is ten minutes old, by the clock of the database. */
  isRotationDue: boolean
}

const SESSION_QUERY = `
  select s.company_id, s.user_id, s.refresh_hash, s.previous_hash,
    s.ended_at is null and s.expires_at > now() and u.is_active as is_alive,
    coalesce(s.rotated_at > now() - interval '10 seconds', false) as is_just_rotated,
    coalesce(s.rotated_at, s.created_at) < now() - interval '10 minutes' as is_rotation_due
  from sessions s join users u on u.id = s.user_id
  where s.id = :id`

/**
 * Exchanges a refresh token for new tokens. A token can be used once; within 10 s it returns the same successor again,
 * for clients that retry. Later use is reuse and ends the session.
 * @throws 401 `UNAUTHORIZED`, 429 `RATE_LIMITED`
 */
export async function refreshSession(deps: AuthDeps, text: string, request: Request): Promise<SessionTokens> {
  const token = parseRefreshToken(deps.vault, text)
  const [session] = token ? await deps.db.statement<SessionState>(SESSION_QUERY, { id: token.sessionId }) : []
  // An ended session does not count against the limit of its user: a thief of its token could lock the user out.
  if (!token || !session?.isAlive || !(token.isOurs || matchesHash(token, session.refreshHash)))
    throw invalidRefreshToken()
  await deps.limits.take(`auth:${session.userId}`, 5, 60, request)
  const result = await deps.db.system(async trx => {
    const [state] = await rows<SessionState>(trx, `${SESSION_QUERY} ${LOCK_SESSION}`, { id: token.sessionId })
    if (!state?.isAlive) return undefined
    const next = nextRefreshToken(deps.vault, token)
    if (matchesHash(token, state.refreshHash)) {
      await rows(
        trx,
        `update sessions set refresh_hash = :next, previous_hash = refresh_hash, rotated_at = now(),
           expires_at = least(now() + interval '30 days', created_at + interval '90 days')
         where id = :id`,
        { id: token.sessionId, next: next.hash },
      )
      return issueTokens(deps, state.userId, next)
    }
    const isRepeat = state.previousHash !== null && matchesHash(token, state.previousHash)
    // A process with another newest key may have computed the successor.
    const successor = possibleSuccessors(deps.vault, token).find(made => matchesHash(made, state.refreshHash))
    if (successor && isRepeat && state.isJustRotated) return issueTokens(deps, state.userId, successor)
    await rows(trx, 'update sessions set ended_at = now() where id = :id', { id: token.sessionId })
    await audit(
      trx,
      // Which of the two callers is the user is unknown.
      { companyId: state.companyId, actor: 'system', ...requestOrigin(request) },
      {
        action: 'session.reused',
        target: { type: 'user', id: state.userId },
        details: { session_id: token.sessionId },
      },
    )
    return undefined
  })
  if (!result) throw invalidRefreshToken()
  return result
}

/**
 * Issues an access token to a browser that keeps its refresh token in a cookie: at each reload and for each tab. The
 * refresh token is exchanged only once it is ten minutes old, because the exchanges of a user are limited.
 * @returns the same refresh token, or its successor
 * @throws 401 `UNAUTHORIZED`, 429 `RATE_LIMITED`
 */
export async function resumeSession(deps: AuthDeps, text: string, request: Request): Promise<SessionTokens> {
  const token = parseRefreshToken(deps.vault, text)
  const [session] = token ? await deps.db.statement<SessionState>(SESSION_QUERY, { id: token.sessionId }) : []
  if (!token || !session?.isAlive || session.isRotationDue || !matchesHash(token, session.refreshHash))
    return refreshSession(deps, text, request)
  await deps.limits.take(`resume:${session.userId}`, 60, 60, request)
  return issueTokens(deps, session.userId, token)
}

/**
 * The name of the user of a refresh token, which neither exchanges nor ends anything; undefined unless the token is the
 * current one of a live session.
 */
export async function findSessionUser(deps: AuthDeps, text: string): Promise<{ name: string } | undefined> {
  const token = parseRefreshToken(deps.vault, text)
  if (!token) return undefined
  const [row] = await deps.db.statement<{ refreshHash: Buffer; name: string }>(
    `select s.refresh_hash, coalesce(nullif(u.full_name, ''), u.email) as name
     from sessions s join users u on u.id = s.user_id
     where s.id = :id and s.ended_at is null and s.expires_at > now() and u.is_active`,
    { id: token.sessionId },
  )
  return row && matchesHash(token, row.refreshHash) ? { name: row.name } : undefined
}

/** The caller of an access token; undefined once its session has ended or its user is disabled. */
export async function findSessionCaller(
  deps: AuthDeps,
  sessionId: string,
  userId: string,
): Promise<Caller | undefined> {
  const [row] = await deps.db.statement<{ companyId: string; plan: Plan; role: Role }>(
    `select c.company_id, c.plan, u.role
     from sessions s join users u on u.id = s.user_id join companies c on c.company_id = s.company_id
     where s.id = :session_id and u.id = :user_id and s.ended_at is null and s.expires_at > now() and u.is_active`,
    { session_id: sessionId, user_id: userId },
    'session',
  )
  return (
    row && {
      kind: 'session',
      companyId: row.companyId,
      plan: row.plan,
      scope: SCOPE_OF_ROLE[row.role],
      userId,
      sessionId,
    }
  )
}

export async function endSession(trx: Transaction, id: string): Promise<void> {
  await rows(
    trx,
    'update sessions set ended_at = now() where company_id = :companyId and id = :id and ended_at is null',
    { companyId: companyOf(trx), id },
  )
}

/** Ends all sessions of a user, and what could still become one, in a transaction of the company. */
export async function endAllSessions(trx: Transaction, userId: string): Promise<void> {
  const who = { companyId: companyOf(trx), userId }
  await rows(
    trx,
    `update sessions set ended_at = now()
     where company_id = :companyId and user_id = :userId and ended_at is null`,
    who,
  )
  for (const table of ['tickets', 'password_resets'])
    await rows(trx, `delete from ${table} where company_id = :companyId and user_id = :userId`, who)
}

function issueTokens(deps: AuthDeps, userId: string, refresh: RefreshToken): SessionTokens {
  return {
    access_token: signAccessToken(deps.vault, { sub: userId, sid: refresh.sessionId }),
    refresh_token: refresh.text,
    token_type: 'bearer',
    expires_in: ACCESS_TOKEN_SECONDS,
  }
}

const matchesHash = (token: RefreshToken, stored: Buffer): boolean => timingSafeEqual(token.hash, stored)

function invalidRefreshToken() {
  const message = 'This refresh token is no longer valid: sign in again with POST /api/v1/auth/login'
  return apiError('UNAUTHORIZED', message)
}
