import { randomBytes } from 'node:crypto'
import type { ServerRoute } from '@hapi/hapi'
import { v7 as uuid } from 'uuid'
import { access, routesOf, type Caller } from '../../../server/http/access.ts'
import { rows } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import { envelope } from '../../../server/http/replies.ts'
import type { AuthDeps } from '../deps.ts'
import { replies } from '../replies.ts'
import { schemas } from '../schemas.ts'
import { sha256 } from './tokens.ts'

export const DEMO_KEY_PREFIX = 'aa_demo_'

/** Sets the company that `POST /demo/session` opens to the public; there is one at most. */
export async function setDemoCompany(deps: AuthDeps, companyId: string): Promise<void> {
  await deps.db.system(async trx => {
    await rows(trx, 'update companies set is_demo = false where is_demo and company_id <> :companyId', {
      companyId,
    })
    await rows(trx, 'update companies set is_demo = true where company_id = :companyId and not is_demo', {
      companyId,
    })
  })
}

/** Creates a read-only key of the demo company for an hour; undefined when there is no such company. */
async function createDemoSession(deps: AuthDeps): Promise<{ key: string; expiresAt: Date } | undefined> {
  const key = DEMO_KEY_PREFIX + randomBytes(30).toString('base64url')
  const [made] = await deps.db.statement<{ expiresAt: Date }>(
    `insert into demo_sessions (id, company_id, key_hash, expires_at)
     select :id, company_id, :hash, now() + interval '1 hour' from companies where is_demo
     returning expires_at`,
    { id: uuid(), hash: sha256(key) },
  )
  return made && { key, expiresAt: made.expiresAt }
}

interface DemoSession {
  id: string
  companyId: string
  /** Until the key expires. */
  secondsLeft: number
}

/** Undefined for an unknown or expired key, and while the demo is disabled. */
async function findDemoSession(deps: AuthDeps, key: string): Promise<DemoSession | undefined> {
  if (!deps.config.demoEnabled) return undefined
  const [session] = await deps.db.statement<DemoSession>(
    `select d.id, d.company_id, cast(extract(epoch from d.expires_at - now()) as int) as seconds_left
     from demo_sessions d join companies c on c.company_id = d.company_id
     where d.key_hash = :hash and d.expires_at > now() and c.is_demo`,
    { hash: sha256(key) },
  )
  return session
}

/** Undefined for an unknown or expired key, and while the demo is disabled. */
export async function findDemoCaller(deps: AuthDeps, key: string): Promise<Caller | undefined> {
  const session = await findDemoSession(deps, key)
  return (
    session && {
      kind: 'key',
      companyId: session.companyId,
      plan: 'free_trial',
      scope: 'read-only',
      keyId: session.id,
      readOnlyReason: 'The key of a demo session reads only: sign up to try this with your own data',
    }
  )
}

/** The seconds that a key of the demo still has; 0 for an unknown or expired one, and while the demo is disabled. */
export async function getDemoSecondsLeft(deps: AuthDeps, key: string): Promise<number> {
  return (await findDemoSession(deps, key))?.secondsLeft ?? 0
}

export const demoRoutes: ServerRoute[] = [
  routesOf('demo')('POST', '/api/v1/demo/session', access.byAddress({ name: 'demo', perMinute: 5 }), {
    description: 'Create an API key that reads the demo company for an hour',
    notes: 'For a look without signing up. The key reads only, and the company is shared by all who look.',
    validate: { payload: schemas.nothing, query: schemas.none },
    response: replies.demoKey,
    app: { errors: ['NOT_FOUND'] },
    async handler({ server }, h) {
      const made = server.config.demoEnabled ? await createDemoSession(server) : undefined
      if (!made)
        throw apiError('NOT_FOUND', 'There is no demo: the operator can enable it with DEMO_ENABLED=true')
      const data = { api_key: made.key, expires_at: made.expiresAt }
      return h.response(envelope(data)).code(201).header('Cache-Control', 'no-store')
    },
  }),
]
