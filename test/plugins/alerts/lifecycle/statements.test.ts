import t from 'tap'
import type { AttemptData } from '../../../../plugins/alerts/delivery/claims.ts'
import { deliverJob, retryJob } from '../../../../plugins/alerts/delivery/delivery.ts'
import type { Transaction } from '../../../../server/database/database.ts'
import { startReceiver } from '../../../helpers/receiver.ts'
import { startServer } from '../../../helpers/server.ts'
import { makeWorld } from '../world.ts'

const receiver = await startReceiver(t)
const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '0,0' } })
const world = await makeWorld(app)
await world.addDestination({ url: receiver.url })

/** How many statements each transaction of a company sends while some work is done, besides those that begin it. */
async function during(work: () => Promise<unknown>): Promise<number[]> {
  const { db } = app.server
  const { company } = db
  const transactions: { statements: number }[] = []
  db.company = (id, does) =>
    company(id, (trx: Transaction) => {
      const transaction = { statements: 0 }
      transactions.push(transaction)
      trx.on('query', () => (transaction.statements += 1))
      return does(trx)
    })
  await work()
  db.company = company
  return transactions.map(({ statements }) => statements)
}

const seen = new Set<string>()

/** Raises, or recovers, and counts what the attempts send that follow. */
async function attempts(act: () => Promise<unknown>, queues = [deliverJob]): Promise<number[]> {
  const ids: string[] = []
  const isNew = ({ delivery_id: id }: AttemptData) => !seen.has(id) && ids.push(id) > 0
  const [, ...transactions] = await during(async () => {
    await act()
    await Promise.all(queues.map(queue => app.server.jobs.settled(queue, isNew)))
  })
  for (const id of ids) seen.add(id)
  return transactions
}

t.test('an attempt that gets through is two transactions of few statements', async t => {
  t.strictSame(await attempts(() => world.raise()), [4, 6])
  t.strictSame(await attempts(() => world.recover()), [4, 5])
})

t.test('one that does not sends the next', async t => {
  receiver.answer(500, 200)
  t.strictSame(await attempts(() => world.raise({ cause: 'rule:2' }), [deliverJob, retryJob]), [4, 6, 4, 7])
})
