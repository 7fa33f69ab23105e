import { randomUUID } from 'node:crypto'
import t from 'tap'
import { PLANS, type Plan } from '../../../server/settings/config.ts'
import { startProcess } from '../../helpers/server-process.ts'
import { startServer } from '../../helpers/server.ts'

/** The specification's table: a minute and a burst. */
const ALLOWED: Record<Plan, [number, number]> = {
  free_trial: [20, 2],
  starter: [30, 3],
  growth: [500, 25],
  professional: [1_000, 50],
  enterprise: [5_000, 100],
}
/** More at once than any limit here lets pass. */
const MANY = 400
/** What a test lets pass of a limit that is larger than what it sends. */
const LEFT = 150

const app = await startServer(t, { isOwn: true })
const { query, signUp, server } = app
const urls = await Promise.all([1, 2, 3].map(() => startProcess(t, app)))
const { key, token, companyId } = await signUp()
const [{ id: keyId }] = (await query(`select id from api_keys`)) as [{ id: string }]

/**
 * Whether a second's window counts; a minute's is not reached otherwise. Time that passes while they are answered
 * opens no window anew.
 */
async function countBursts(isOn: boolean): Promise<void> {
  await query(
    `create or replace function hold_windows() returns trigger language plpgsql as $$ begin
       new.ends_at := greatest(new.ends_at, now() + interval '1 hour');
       new.burst_ends_at := greatest(new.burst_ends_at, now() + interval '1 hour');
       ${isOn ? '' : 'new.burst_used := 0;'}
       return new; end $$`,
  )
}

await countBursts(true)
await query(
  'create trigger hold_windows before insert or update on rate_windows for each row execute function hold_windows()',
)

interface Answer {
  status: number
  headers: Headers
}

/** Sends `MANY` requests at once to the three processes in turn, and splits the replies by whether they are 429. */
async function rush(
  path: string,
  {
    method = 'GET',
    credential,
    body,
  }: {
    method?: string
    credential?: (index: number) => string
    body?: object
  } = {},
): Promise<{ passed: Answer[]; refused: Answer[] }> {
  const answers = await Promise.all(
    Array.from({ length: MANY }, async (_, index): Promise<Answer> => {
      const response = await fetch(`${urls[index % urls.length]}${path}`, {
        method,
        headers: {
          // A kept connection may be closed by the server just as the next request is sent on it.
          connection: 'close',
          ...(credential && { authorization: `Bearer ${credential(index)}` }),
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      await response.arrayBuffer()
      return { status: response.status, headers: response.headers }
    }),
  )
  return {
    passed: answers.filter(({ status }) => status !== 429),
    refused: answers.filter(({ status }) => status === 429),
  }
}

/** Asserts how many passed, that every reply carries the limit, and that refusals carry `retry-after`. */
function areExact(
  t: Test,
  { passed, refused }: Awaited<ReturnType<typeof rush>>,
  { allowed, status }: { allowed: number; status: number },
): void {
  t.equal(passed.length, allowed, 'exactly the allowed number passes')
  t.equal(refused.length, MANY - allowed)
  t.ok(
    passed.every(answer => answer.status === status),
    `with ${status}`,
  )
  for (const { headers } of [...passed, ...refused]) {
    if (headers.get('x-ratelimit-limit') !== String(allowed))
      t.fail(`a reply named the limit ${headers.get('x-ratelimit-limit')}`)
    if (!/^\d+$/.test(headers.get('x-ratelimit-remaining') ?? ''))
      t.fail('a reply did not contain what remains')
    if (!(Number(headers.get('x-ratelimit-reset')) > Date.now() / 1_000))
      t.fail('a reply did not contain the end')
  }
  const left = passed.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')))
  t.strictSame(
    left.sort((one, other) => one - other),
    Array.from({ length: allowed }, (_, index) => index),
    'and each of them gets another remainder',
  )
  t.ok(refused.every(({ headers }) => headers.get('x-ratelimit-remaining') === '0'))
  t.ok(refused.every(({ headers }) => Number(headers.get('retry-after')) >= 1))
}

type Test = Pick<typeof t, 'equal' | 'ok' | 'fail' | 'strictSame'>

const usedOf = async (name: string) =>
  (await query('select used from rate_windows where name = $1', [name]))[0]?.used

t.beforeEach(async () => {
  await countBursts(true)
  await query('delete from rate_windows')
  await query('delete from login_failures')
})

for (const plan of PLANS) {
  const [minute, burst] = ALLOWED[plan]
  t.test(`${plan}: of ${MANY} at once on three processes, ${burst} pass in a second`, async t => {
    await server.plugins.auth.setPlan(companyId, plan)
    const answers = await rush('/api/v1/assets', { credential: () => key })
    areExact(t, answers, { allowed: burst, status: 200 })
    t.equal(await usedOf(`key:${keyId}`), burst, 'and the minute counts no refused ones')
  })

  t.test(`${plan}: of ${MANY} at once on three processes, ${minute} pass in a minute`, async t => {
    await server.plugins.auth.setPlan(companyId, plan)
    await countBursts(false)
    const allowed = Math.min(minute, LEFT)
    await query(
      `insert into rate_windows values ($1, $2, now() + interval '1 hour', 0, now() + interval '1 hour', true)`,
      [`key:${keyId}`, minute - allowed],
    )
    // Nearest to its limit is the second where the minute has more left.
    const { passed, refused } = await rush('/api/v1/assets', { credential: () => key })
    t.equal(passed.length, allowed)
    t.equal(refused.length, MANY - allowed)
    t.ok(passed.every(({ status }) => status === 200))
    t.ok(refused.every(({ headers }) => headers.get('x-ratelimit-limit') === String(minute)))
    t.ok(refused.every(({ headers }) => Number(headers.get('retry-after')) >= 1))
    t.equal(await usedOf(`key:${keyId}`), minute, 'refused ones do not count')
  })
}

t.test('users: 100 a minute on assets, 5 on their own affairs, whichever process answers', async t => {
  areExact(t, await rush('/api/v1/assets', { credential: () => token }), { allowed: 100, status: 200 })
  const change = { method: 'PATCH', credential: () => token, body: { full_name: 'Ada' } }
  areExact(t, await rush('/api/v1/auth/me', change), { allowed: 5, status: 200 })
})

t.test(
  'refused, unknown and bad requests count as good ones do, and their replies carry the limit',
  async t => {
    const credential = () => token
    areExact(t, await rush(`/api/v1/assets/${randomUUID()}`, { credential }), { allowed: 100, status: 404 })
    await query('delete from rate_windows')
    areExact(t, await rush('/api/v1/assets?limit=none', { credential }), { allowed: 100, status: 422 })
    await query('delete from rate_windows')
    await query(`update users set role = 'viewer'`)
    const discover = { method: 'POST', credential }
    areExact(t, await rush(`/api/v1/sdk/assets/${randomUUID()}/discover`, discover), {
      allowed: 100,
      status: 403,
    })
    await query(`update users set role = 'owner'`)
  },
)

t.test('addresses: 5 sign-ins a minute, 3 registrations', async t => {
  const body = { email: 'user@example.com', password: 'a wrong password' }
  areExact(t, await rush('/api/v1/auth/login', { method: 'POST', body }), { allowed: 5, status: 401 })
  const weak = { email: 'user@example.com', password: 'short' }
  areExact(t, await rush('/api/v1/auth/register', { method: 'POST', body: weak }), {
    allowed: 3,
    status: 400,
  })
})

t.test('a source is discovered ten times an hour, by any number of callers', async t => {
  await server.plugins.auth.setPlan(companyId, 'enterprise')
  await countBursts(false)
  const second = await server.plugins.auth.createKey({ companyId, name: 'second', scope: 'read-write' })
  const id = randomUUID()
  await query(
    `insert into sources (id, company_id, name, source_type, config) values ($1, $2, 'shop', 'postgresql', '{}')`,
    [id, companyId],
  )
  const { passed, refused } = await rush(`/api/v1/sdk/assets/${id}/discover`, {
    method: 'POST',
    credential: index => (index % 2 ? key : second.key),
  })
  t.equal(passed.length, 10)
  t.equal(refused.length, MANY - 10)
  t.ok(refused.every(({ headers }) => headers.get('x-ratelimit-limit') === '10'))
})
