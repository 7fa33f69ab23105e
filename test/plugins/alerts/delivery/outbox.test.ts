import t from 'tap'
import { endure } from '../../../chaos/outbox.ts'

t.test('whatever statement a crash falls on, alerts, messages and jobs agree', async t => {
  const { broken, crashes, alerts, deliveries, jobs } = await endure(t, 1, ['after'])
  t.strictSame(broken, [])
  t.ok(crashes > 50, `${crashes} crashes`)
  t.ok(alerts > 0 && deliveries >= 2 * alerts && jobs > 0)
})
