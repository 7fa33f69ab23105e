import { v7 } from 'uuid'
import { companyOf, type Transaction } from '../../server/database/database.ts'
import type { DemoAlerts, DemoEvent } from './api.ts'
import { makeDemoPast } from './demo-past.ts'
import type { Deps } from './deps.ts'
import { createSigningSecret, sealConfig } from './destinations/secrets.ts'
import { slack } from './destinations/types/slack.ts'
import { raiseAll } from './lifecycle/raise.ts'
import { lockDemoAlerts } from './locks.ts'
import { Alert, Destination, IS_OPEN } from './models.ts'

/** No real alert has this cause: theirs are ids. */
const CAUSE = 'demo'
/** Resolves nowhere: https://www.rfc-editor.org/rfc/rfc6761#section-6.4 */
const WEBHOOK_URL = 'https://demo.invalid/'

export function makeDemoAlerts(deps: Deps): DemoAlerts {
  return {
    past: makeDemoPast(deps),
    async raise(trx, event) {
      await lockDemoAlerts(trx)
      const open = await Alert.query(trx).findOne({ cause: CAUSE }).whereRaw(IS_OPEN)
      if (open) return { ...shown(await relocate(trx, open, event)), isNew: false }
      const contextData = { is_demo: true }
      const [raised] = await raiseAll(deps, trx, [{ ...event, cause: CAUSE, contextData }])
      return { ...shown(await Alert.query(trx).findById(raised!.alertId).throwIfNotFound()), isNew: true }
    },
    remove: async trx => Alert.query(trx).delete().where({ cause: CAUSE }),
    async createDestination(trx, name) {
      await lockDemoAlerts(trx)
      const former = await Destination.query(trx).findOne({ isDemo: true }).whereNull('deletedAt')
      if (former) {
        const { id, destinationType } = former
        return { id, name: former.name, destinationType, isNew: false }
      }
      const owner = { id: v7(), companyId: companyOf(trx) }
      const destinationType = slack.name
      await Destination.query(trx).insert({
        ...sealConfig(deps.vault, owner, slack.config, { webhook_url: WEBHOOK_URL }),
        id: owner.id,
        name,
        destinationType,
        signingSecrets: createSigningSecret(deps.vault, owner).sealed,
        isVerified: true,
        isDemo: true,
      })
      return { id: owner.id, name, destinationType, isNew: true }
    },
  }
}

function shown({ id, title, severity }: Alert): Pick<Alert, 'id' | 'title' | 'severity'> {
  return { id, title, severity }
}

/** An alert that was opened before its table was discovered gets the table once that is there. */
async function relocate(trx: Transaction, alert: Alert, { sourceId, asset }: DemoEvent): Promise<Alert> {
  if (asset.id === alert.assetId) return alert
  const { id, qualifiedName: qualified_name, assetType: asset_type, tags = [] } = asset
  const event = { ...alert.event, asset: { id, qualified_name, asset_type, tags: [...tags] } }
  return Alert.query(trx).patchAndFetchById(alert.id, { sourceId, assetId: id, event })
}
