import t from 'tap'
import { isAway } from '../../../server/database/away.ts'
import { shareConnections } from '../../../server/fairness/connections.ts'
import { startServer } from '../../helpers/server.ts'

const app = await startServer(t)

const settle = () => new Promise(resolve => setImmediate(resolve))

t.test('one company holds seven of ten connections, the next two, and one is left', async t => {
  const shares = shareConnections(10, 60_000)
  const held: Record<string, number> = {}
  const { promise: end, resolve } = Promise.withResolvers<void>()
  const ask = (companyId: string, count: number) =>
    Array.from({ length: count }, () =>
      shares.hold(companyId, async () => {
        held[companyId] = (held[companyId] ?? 0) + 1
        await end
      }),
    )
  const all = ask('a', 20)
  await settle()
  t.strictSame(held, { a: 7 })
  all.push(...ask('b', 20))
  await settle()
  t.strictSame(held, { a: 7, b: 2 })
  all.push(...ask('c', 1))
  await settle()
  t.strictSame(held, { a: 7, b: 2, c: 1 })
  t.equal(shares.waiting(), 31)
  resolve()
  await Promise.all(all)
  t.strictSame(held, { a: 20, b: 20, c: 1 }, 'the others come in their turn')
  t.equal(shares.waiting(), 0)
})

t.test('what waits too long fails as when the database is away, and work that fails gives back', async t => {
  const shares = shareConnections(1, 20)
  const { promise: end, resolve } = Promise.withResolvers<void>()
  const first = shares.hold('a', () => end)
  const error = await shares.hold('b', async () => undefined).catch((thrown: unknown) => thrown)
  t.ok(isAway(error), 'so that a request is answered 503')
  resolve()
  await first
  await t.rejects(
    shares.hold('a', async () => {
      throw new Error('failed')
    }),
    { message: 'failed' },
  )
  t.equal(await shares.hold('b', async () => 1), 1)
})

t.test('transactions of one company never hold all connections of a process', async t => {
  const [hog, other] = [await app.signUp('Hog'), await app.signUp('Other')]
  const { promise: end, resolve } = Promise.withResolvers<void>()
  const enough = Promise.withResolvers<void>()
  let open = 0
  const transactions = Array.from({ length: 20 }, () =>
    app.server.db.company(hog.companyId, async trx => {
      await trx.raw('select 1')
      if (++open === 7) enough.resolve()
      await end
    }),
  )
  await enough.promise
  t.equal((await other.ask('GET', '/api/v1/sdk/assets')).status, 200, 'B is answered')
  t.equal(open, 7)
  const [use] = app.server.db.pools()
  t.match(use, { name: 'application', waiting: 13 }, 'operators see what waits')
  resolve()
  await Promise.all(transactions)
  t.equal(open, 20)
})
