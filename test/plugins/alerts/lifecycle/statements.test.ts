import t from 'tap'
import type { AttemptData } from '../../../../plugins/alerts/delivery/job-kinds.ts'
import { deliverJob, retryJob } from '../../../../plugins/alerts/delivery/job-kinds.ts'
import type { Transaction } from '../../../../server/database/database.ts'
import { startReceiver } from '../../../helpers/receiver.ts'
import { startServer } from '../../../helpers/server.ts'
import { makeWorld } from '../world.ts'

const receiver = await startReceiver(t)
const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '0,0' } })
const world = await makeWorld(app)
await world.addDestination({ url: receiver.url })

/** The statements of a transaction, and the packets that they were sent in, besides what begins and ends it. */
interface Sent {
  statements: number
  packets: number
}

/** What each transaction of a company sends while some work is done. */
async function during(work: () => Promise<unknown>): Promise<Sent[]> {
  const { db } = app.server
  const { company } = db
  const transactions: Sent[] = []
  db.company = (id, does) =>
    company(id, async (trx: Transaction) => {
      const sent: Sent = { statements: 0, packets: 0 }
      transactions.push(sent)
      const connection = await (
        trx.client as { acquireConnection(): Promise<Record<string, unknown>> }
      ).acquireConnection()
      const query = connection.query as (...asked: unknown[]) => unknown
      let isSending = false
      connection.query = (...asked: unknown[]) => {
        sent.statements += 1
        // What is sent in one turn shares a packet.
        if (!isSending) sent.packets += 1
        isSending = true
        queueMicrotask(() => (isSending = false))
        return query.apply(connection, asked)
      }
      try {
        return await does(trx)
      } finally {
        connection.query = query
      }
    })
  await work()
  db.company = company
  return transactions
}

/** With what the alert is about, which destinations of extensions are given. */
const CLAIM: Sent = { statements: 4, packets: 2 }

const seen = new Set<string>()

/** Raises, or recovers, and counts what the attempts send that follow. */
async function attempts(act: () => Promise<unknown>, kinds = [deliverJob]): Promise<Sent[]> {
  const ids: string[] = []
  const isNew = ({ delivery_id: id }: AttemptData) => !seen.has(id) && ids.push(id) > 0
  const [, ...transactions] = await during(async () => {
    await act()
    await Promise.all(kinds.map(kind => app.server.jobs.settled(kind, isNew)))
  })
  for (const id of ids) seen.add(id)
  return transactions
}

t.test('an attempt that gets through is two transactions of few statements', async t => {
  t.strictSame(await attempts(() => world.raise()), [CLAIM, { statements: 6, packets: 4 }])
  t.strictSame(await attempts(() => world.recover()), [CLAIM, { statements: 5, packets: 3 }])
})

t.test('one that does not sends the next', async t => {
  receiver.answer(500, 200)
  const failed = { statements: 7, packets: 5 }
  t.strictSame(await attempts(() => world.raise({ cause: 'rule:2' }), [deliverJob, retryJob]), [
    ...[CLAIM, failed],
    ...[CLAIM, failed],
  ])
})
