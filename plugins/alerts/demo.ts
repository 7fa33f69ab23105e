import type { Server } from '@hapi/hapi'
import { v7 } from 'uuid'
import { companyOf, type Transaction } from '../../server/database/database.ts'
import type { AlertEvent } from './api.ts'
import type { DeliveryOutcome } from './destinations/destination.ts'
import { Alert, Destination, IS_OPEN } from './models.ts'
import { createSigningSecret, sealConfig } from './destinations/secrets.ts'
import { slack } from './destinations/slack.ts'
import { lockDemoAlerts } from './locks.ts'

/** Alerts and a destination to look at, as `server.plugins.alerts.demo`. Nothing leaves the server because of them. */
export interface DemoAlerts {
  /** Opens the demo alert, which nobody is told of, or gives the one that is open. */
  raise(trx: Transaction, event: DemoEvent): Promise<{ alert: Alert; isNew: boolean }>
  /** Deletes all demo alerts. @returns how many there were */
  remove(trx: Transaction): Promise<number>
  /** Makes the demo destination, to which nothing is really sent, or gives the one that is there. */
  destination(trx: Transaction, name: string): Promise<{ destination: Destination; isNew: boolean }>
}

/** What a demo alert says. */
export type DemoEvent = Omit<AlertEvent, 'type' | 'cause' | 'contextData' | 'isNews'>

const KIND = 'freshness_violation'
/** No real alert has such a cause: theirs are ids. */
const CAUSE = 'demo'
/** No address of anybody's: https://www.rfc-editor.org/rfc/rfc6761#section-6.4 */
const NOWHERE = 'https://demo.invalid/'

/** `server.plugins.alerts.demo` of a server. */
export function demoAlerts(server: Server): DemoAlerts {
  return {
    async raise(trx, event) {
      await lockDemoAlerts(trx)
      const known = await Alert.query(trx).findOne({ kind: KIND, cause: CAUSE }).whereRaw(IS_OPEN)
      if (known) return { alert: await placed(trx, known, event), isNew: false }
      const contextData = { is_demo: true }
      const raised = { ...event, type: KIND, cause: CAUSE, contextData } as const
      const { alertId } = await server.plugins.alerts.raise(trx, raised)
      return { alert: await Alert.query(trx).findById(alertId).throwIfNotFound(), isNew: true }
    },
    remove: async trx => Alert.query(trx).delete().where({ kind: KIND, cause: CAUSE }),
    async destination(trx, name) {
      await lockDemoAlerts(trx)
      const known = await Destination.query(trx).findOne({ isDemo: true }).whereNull('deletedAt')
      if (known) return { destination: known, isNew: false }
      const owner = { id: v7(), companyId: companyOf(trx) }
      const destination = await Destination.query(trx)
        .insert({
          ...sealConfig(server.vault, owner, slack.config, { webhook_url: NOWHERE }),
          id: owner.id,
          name,
          destinationType: slack.name,
          signingSecrets: createSigningSecret(server.vault, owner).sealed,
          isVerified: true,
          isDemo: true,
        })
        .returning('*')
      return { destination, isNew: true }
    },
  }
}

/** An alert that was opened before there was anything to link to gets its table once that is there. */
async function placed(trx: Transaction, alert: Alert, { sourceId, asset }: DemoEvent): Promise<Alert> {
  if (asset.id === alert.assetId) return alert
  const { id, qualifiedName: qualified_name, assetType: asset_type, tags = [] } = asset
  const event = { ...alert.event, asset: { id, qualified_name, asset_type, tags: [...tags] } }
  return Alert.query(trx).patchAndFetchById(alert.id, { sourceId, assetId: id, event })
}

/** Whether an alert is there to be looked at only. */
export function isDemo({ contextData }: Pick<Alert, 'contextData'>): boolean {
  return (contextData as { is_demo?: true }).is_demo === true
}

/** The opposite in SQL, a condition on alerts. */
export const NOT_DEMO = `context_data ->> 'is_demo' is distinct from 'true'`

/** What an attempt to reach a demo destination comes to. */
export const SIMULATED: DeliveryOutcome = {
  isDelivered: true,
  statusCode: 200,
  errorClass: null,
  errorMessage: null,
  address: null,
  tlsVersion: null,
  latencyMs: 0,
  responseBody: 'Simulated: this is a demo destination, and nothing was sent',
}
