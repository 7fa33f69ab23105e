/** Requests of company A that hold connections for long leave connections to company B. */
import t from 'tap'
import { discover, makeWorld } from '../helpers/world.ts'
import { attack, MAX_P99_MS } from './attack.ts'

const TABLES = 60
const world = await makeWorld(
  t,
  Array.from({ length: TABLES }, (_, n) =>
    n === 0
      ? 'create table t0 (id int primary key, amount numeric)'
      : `create view t${n} as select id, amount + ${n} as amount from t${n - 1}`,
  ),
)
await discover(world)
const { app, tenant, asset } = world
const other = await app.signUp('B')

/** The most that a request takes. */
const CHANGES = 100
/** More than there are connections. */
const REQUESTS = 20

const ask = (changes: object[]) =>
  tenant.ask('POST', '/api/v1/sdk/lineage/impact', { source: asset.id, changes })

t.test('many large questions about impact leave connections to others', { timeout: 240_000 }, async t => {
  const changes = Array.from({ length: CHANGES }, (_, n) => ({
    change: 'drop_column',
    table: `t${n % TABLES}`,
    column: n % 2 ? 'id' : 'amount',
  }))
  const statuses: number[] = []
  const { p99Ms } = await attack(t, {
    route: 'POST /api/v1/sdk/lineage/impact',
    attack: `${REQUESTS} requests of ${CHANGES} changes at once`,
    bystander: other,
    work: () =>
      Promise.all(
        Array.from({ length: REQUESTS }, async () => {
          const reply = await ask(changes)
          statuses.push(reply.status)
          if (reply.status === 503) t.ok(Number(reply.headers['retry-after']) > 0, 'says when to try again')
        }),
      ),
  })
  t.ok(p99Ms < MAX_P99_MS, `B waits ${p99Ms.toFixed(0)} ms`)
  t.ok(statuses.includes(200))
  t.strictSame(
    statuses.filter(status => status !== 200 && status !== 503),
    [],
  )
})

t.test('more changes than a request may have are refused with the number', async t => {
  const change = { change: 'drop_table', table: 't0' }
  const { status, body } = await ask(Array.from({ length: CHANGES + 1 }, () => change))
  t.equal(status, 400)
  t.match(body.error.message, /at most 100/)
})

t.test('the same subject is looked for once', async t => {
  const change = { change: 'drop_column', table: 't0', column: 'amount' }
  const { body } = await ask([
    change,
    { ...change },
    { change: 'rename_column', table: 't0', column: 'amount', new_name: 'sum' },
  ])
  const [first, second, third] = body.data.changes
  t.strictSame(first, second)
  t.strictSame(first.tables, third.tables)
  t.equal(first.tables.length, TABLES - 1)
})
