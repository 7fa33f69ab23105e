/**
 * An extension of the servers under test: raises alerts by the row of the table `chaos_plan`, until there are as many
 * as it says, and resolves every second one. What it raised is what the database says: it may be killed anywhere.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import type { Event } from '../../plugins/alerts/api.ts'

/** What the table says. */
interface Plan {
  companyId: string
  alerts: number
  /** Alerts of one transaction. */
  batch: number
  /** Milliseconds between two transactions. */
  pause: number
  raised: number
}

const TYPE = 'validity_failure'

export const plugin = {
  name: 'chaos-raiser',
  register(server: Server): void {
    // The servers under test go with whoever started them, however that ends.
    process.once('disconnect', () => process.exit())
    if (server.config.role === 'worker') return
    server.ext('onPostStart', () => void raiseOnAndOn(server))
  },
}

async function raiseOnAndOn(server: Server): Promise<void> {
  let before: string[] = []
  for (;;) {
    try {
      const plan = await readPlan(server)
      const isDone = plan === undefined || plan.raised >= plan.alerts
      const causes = isDone ? [] : Array.from({ length: plan.batch }, () => randomUUID())
      if (plan && causes.length + before.length > 0) {
        const over = before.filter((_, place) => place % 2 === 0)
        await server.db.company(plan.companyId, async trx => {
          await server.plugins.alerts.raiseAll(trx, causes.map(event))
          await server.plugins.alerts.resolveAll(trx, TYPE, over)
        })
      }
      before = causes
      await wait(isDone ? 200 : plan.pause)
    } catch (error) {
      server.log(['chaos', 'warn'], `nothing was raised: ${(error as Error).message}`)
      await wait(500)
    }
  }
}

async function readPlan(server: Server): Promise<Plan | undefined> {
  const [plan] = await server.db.statement<Plan>(
    `select *, (select cast(count(*) as integer) from alerts a where a.company_id = p.company_id) as raised
       from chaos_plan p`,
  )
  return plan
}

function event(cause: string): Event {
  return {
    type: TYPE,
    cause,
    severity: 'critical',
    sourceId: null,
    asset: { id: randomUUID(), qualifiedName: 'shop.public.orders', assetType: 'table' },
    ruleName: 'Total is positive',
    title: '3 of 100 values are invalid',
    details: { invalid_count: 3, example: 'Füße, 数据, \u2028' },
  }
}
