import { randomUUID } from 'node:crypto'
import t from 'tap'
import { chooseSignalOfPatch } from '../../../../plugins/freshness/schedules/signals.ts'
import { findSchedule } from '../../../../plugins/freshness/schedules/schedules.ts'
import { explicit, startWorlds } from '../worlds.ts'

const { server, tenant, world } = await startWorlds(t)

t.test('a schedule whose table is being removed is named by its id in the API', async t => {
  const { watch } = await world(t, 'create table orders (ts timestamptz)')
  const { id } = await watch('orders', explicit('1h'))
  await server.db.company(tenant.companyId, async trx => {
    const schedule = await findSchedule(trx, id)
    schedule.tableId = randomUUID()
    const change = chooseSignalOfPatch(server.plugins.catalog, trx, schedule, { freshness_column: 'ts' })
    t.match(await change.catch((error: unknown) => error), {
      data: { code: 'SCHEDULE_NOT_FOUND', details: { schedule_id: id } },
    })
  })
})
