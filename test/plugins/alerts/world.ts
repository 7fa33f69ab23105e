import { randomUUID } from 'node:crypto'
import type { Event } from '../../../plugins/alerts/api.ts'
import type { Tenant, TestServer } from '../../helpers/server.ts'

export const ALERTS = '/api/v1/sdk/alerts'

/** A company with a source, and what a feature would do in its name. */
export interface World extends Tenant {
  sourceId: string
  /** Raises in a transaction of its own, as a feature does in the one of what it found. */
  raise(changes?: Partial<Event>): Promise<{ alertId: string; isNew: boolean }>
  recover(cause?: string): Promise<boolean>
  addDestination(config: object, more?: object): Promise<{ id: string; signing_secret: string }>
  deliveries(destinationId: string): Promise<Delivery[]>
}

/** A delivery as the API shows it, as far as tests look at it. */
export interface Delivery {
  id: string
  event_type: string
  status: string
  attempts: Record<string, unknown>[]
}

/** Signs a company up and gives it a source to raise alerts about. */
export async function makeWorld({ server, signUp, query }: TestServer, name = 'Acme'): Promise<World> {
  const tenant = await signUp(name)
  const sourceId = randomUUID()
  await query(
    `insert into sources (id, company_id, name, source_type, config) values ($1, $2, 'shop', 'postgresql', '{}')`,
    [sourceId, tenant.companyId],
  )
  const event: Event = {
    type: 'validity_failure',
    cause: 'rule:1',
    severity: 'warning',
    sourceId,
    asset: {
      id: randomUUID(),
      qualifiedName: 'shop.shop.public.orders',
      assetType: 'table',
      tags: ['money'],
    },
    ruleName: 'Total is positive',
    title: '3 of 100 values are invalid',
    details: { rule_id: 'v_1', invalid_count: 3 },
  }
  return {
    ...tenant,
    sourceId,
    raise: changes =>
      server.db.company(tenant.companyId, trx => server.plugins.alerts.raise(trx, { ...event, ...changes })),
    recover: (cause = event.cause) =>
      server.db.company(tenant.companyId, trx => server.plugins.alerts.resolve(trx, event.type, cause)),
    async addDestination(config, more) {
      const payload = { name: 'Receiver', destination_type: 'webhook', config, ...more }
      const { status, body } = await tenant.ask('POST', `${ALERTS}/destinations`, payload)
      if (status !== 201) throw new Error(JSON.stringify(body))
      return body.data
    },
    async deliveries(destinationId) {
      return (await tenant.ask('GET', `${ALERTS}/destinations/${destinationId}/deliveries`)).body.data.data
    },
  }
}
