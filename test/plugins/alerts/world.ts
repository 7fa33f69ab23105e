import { randomUUID } from 'node:crypto'
import type { AlertEvent, RaiseResult } from '../../../plugins/alerts/api.ts'
import type { Reply, TestServer } from '../../helpers/server.ts'

export const ALERTS = '/api/v1/sdk/alerts'

/** A company with a source, and what a feature would do in its name. */
export interface World {
  companyId: string
  sourceId: string
  /** Gives the company another source. @returns its id */
  addSource(name: string): Promise<string>
  /** Asks with a key of scope admin. */
  ask(method: string, path: string, payload?: unknown): Promise<Reply>
  /** Raises in a transaction of its own, as a feature does in the one of what it found. */
  raise(changes?: Partial<AlertEvent>): Promise<RaiseResult>
  /** The same for many events in one call. */
  raiseAll(changes: readonly Partial<AlertEvent>[]): Promise<RaiseResult[]>
  /** The event that is raised, but for the changes. */
  event(changes?: Partial<AlertEvent>): AlertEvent
  recover(cause?: string): Promise<boolean>
  recoverAll(causes: readonly string[], reason?: string): Promise<number>
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

/** Makes a company with a key, as an operator does, and gives it a source to raise alerts about. */
export async function makeWorld({ server, ask, query }: TestServer, name = 'Acme'): Promise<World> {
  const { id: companyId } = await server.plugins.auth.createCompany({ name: `${name} ${randomUUID()}` })
  const { key } = await server.plugins.auth.createKey({ companyId, name: 'tests', scope: 'admin' })
  const askWithKey: World['ask'] = (method, path, payload) => ask(method, path, payload, key)
  const addSource: World['addSource'] = async called => {
    const id = randomUUID()
    await query(
      `insert into sources (id, company_id, name, source_type, config) values ($1, $2, $3, 'postgresql', '{}')`,
      [id, companyId, called],
    )
    return id
  }
  const sourceId = await addSource('shop')
  const event: AlertEvent = {
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
  const changed = (changes: Partial<AlertEvent> = {}): AlertEvent => ({ ...event, ...changes })
  const { alerts } = server.plugins
  return {
    companyId,
    ask: askWithKey,
    sourceId,
    addSource,
    event: changed,
    raise: changes => server.db.company(companyId, trx => alerts.raise(trx, changed(changes))),
    raiseAll: all => server.db.company(companyId, trx => alerts.raiseAll(trx, all.map(changed))),
    recover: (cause = event.cause) =>
      server.db.company(companyId, trx => alerts.resolve(trx, event.type, cause)),
    recoverAll: (causes, reason) =>
      server.db.company(companyId, trx => alerts.resolveAll(trx, event.type, causes, reason)),
    async addDestination(config, more) {
      const payload = { name: 'Receiver', destination_type: 'webhook', config, ...more }
      const { status, body } = await askWithKey('POST', `${ALERTS}/destinations`, payload)
      if (status !== 201) throw new Error(JSON.stringify(body))
      return body.data
    },
    async deliveries(destinationId) {
      return (await askWithKey('GET', `${ALERTS}/destinations/${destinationId}/deliveries`)).body.data.data
    },
  }
}
