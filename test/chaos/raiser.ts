/**
 * An extension of the servers under test: raises alerts of each company in the table `chaos_plan`, until there are as
 * many as its row says, and resolves every second one. What it raised is what the database says: it may be killed
 * anywhere.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import type { AlertEvent } from '../../plugins/alerts/api.ts'

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
    // The servers under test end with the process that started them, however it ends.
    process.once('disconnect', () => process.exit())
    if (server.config.role === 'worker') return
    server.ext('onPostStart', () => void raiseOnAndOn(server))
  },
}

async function raiseOnAndOn(server: Server): Promise<void> {
  /** What was raised last, by company. */
  const before = new Map<string, string[]>()
  for (;;) {
    try {
      const plans = await readPlans(server)
      for (const plan of plans) await raiseBatch(server, plan, before)
      const isDone = plans.every(({ raised, alerts }) => raised >= alerts)
      await wait(isDone ? 200 : Math.min(...plans.map(({ pause }) => pause)))
    } catch (error) {
      server.log(['chaos', 'warn'], `nothing was raised: ${(error as Error).message}`)
      await wait(500)
    }
  }
}

async function raiseBatch(server: Server, plan: Plan, before: Map<string, string[]>): Promise<void> {
  const { companyId, raised, alerts, batch } = plan
  const last = before.get(companyId) ?? []
  const causes = raised >= alerts ? [] : Array.from({ length: batch }, () => randomUUID())
  if (causes.length + last.length > 0) {
    await server.db.company(companyId, async trx => {
      await server.plugins.alerts.raiseAll(trx, causes.map(event))
      await server.plugins.alerts.resolveAll(
        trx,
        TYPE,
        last.filter((_, place) => place % 2 === 0),
      )
    })
  }
  before.set(companyId, causes)
}

function readPlans(server: Server): Promise<Plan[]> {
  return server.db.statement<Plan>(
    `select *, (select cast(count(*) as integer) from alerts a where a.company_id = p.company_id) as raised
       from chaos_plan p`,
  )
}

function event(cause: string): AlertEvent {
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
