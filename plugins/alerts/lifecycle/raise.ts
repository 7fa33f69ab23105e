import assert from 'node:assert'
import type { Server } from '@hapi/hapi'
import { v7, validate as isUuid } from 'uuid'
import { companyOf, insertAll, rows, type Transaction } from '../../../server/database/database.ts'
import { storable, storableJson } from '../../../server/database/storable.ts'
import type { Registry } from '../../../server/registry.ts'
import { SEVERITIES, type AlertEvent, type AlertKind, type AlertsApi, type Severity } from '../api.ts'
import type { AssetLookup, OwnerLookup } from '../api.ts'
import { Alert, AlertTransition, IS_ONGOING, isOpen, type AlertStatus, type StoredEvent } from '../models.ts'
import { endDismissals, markResolved, resolveCauses, resolveOrphaned } from './resolve.ts'
import type { Resolution } from './resolve.ts'
import { forgetAssets, forgetOwners } from '../rules/rules.ts'
import type { AlertTwins } from '../rules/recipients.ts'
import { notifyTriggered, type EndedAlerts } from '../rules/notify.ts'
import { readAlertHealth } from './health.ts'
import { noticeAlerts, setGrouping } from './notice.ts'
import { notifyIncidents } from '../rules/incident-messages.ts'
import { readStatusBody, statusBodies } from './status-body.ts'
import { changeStatus, noAlert } from './transitions.ts'
import { lockIncidents } from '../locks.ts'

export function makeAlertsApi(server: Server, kinds: Registry<AlertKind>): AlertsApi {
  let assets: AssetLookup | undefined
  let owners: OwnerLookup | undefined
  return {
    addKind: (...added) => kinds.add(...added),
    async raise(trx, event) {
      const [raised] = await raiseAll(server, trx, [event])
      return raised!
    },
    raiseAll: (trx, events) => raiseAll(server, trx, events),
    resolve: async (trx, type, cause) => (await resolveCauses(server, trx, type, [cause])) > 0,
    resolveAll: (trx, type, causes, reason) => resolveCauses(server, trx, type, causes, reason),
    resolveOrphaned: (trx, orphaned) => resolveOrphaned(server, trx, orphaned),
    forgetAssets,
    forgetOwners,
    readHealth: (trx, since) => readAlertHealth(trx, kinds.all(), since),
    async findSubject(trx, alertId) {
      const alert = isUuid(alertId) ? await Alert.query(trx).findById(alertId) : undefined
      if (!alert) throw noAlert(alertId)
      const { assetId, sourceId, title, event } = alert
      return { assetId, sourceId, title, details: event.details as Record<string, unknown> }
    },
    setGrouping: grouping => setGrouping(server, grouping),
    lockIncidents,
    notifyIncidents: (trx, news) => notifyIncidents(server, trx, news),
    changeStatus: async (trx, ids, request) =>
      (await changeStatus(server, trx, ids, request)).map(({ id }) => id),
    statusBodies,
    readStatusBody,
    setAssetLookup: lookup => void (assets = lookup),
    setOwnerLookup: lookup => void (owners = lookup),
    ownerLookup: () => owners,
    openAlertsQuery: `select company_id, asset_id from alerts
      where status in ('triggered', 'acknowledged') and asset_id is not null`,
    filterKnownAssets: async (trx, ids) => (await assets?.filterKnown(trx, ids)) ?? [],
    resolveAssetId: async (trx, asset) => (await assets?.resolveId(trx, asset)) ?? asset,
  }
}

const isWorse = (one: Severity, other: Severity) => SEVERITIES.indexOf(one) > SEVERITIES.indexOf(other)

/** An event with the id of the alert that it opens if its cause has no ongoing one. */
interface NumberedEvent {
  id: string
  event: AlertEvent
  /** The alert that this one replaces because it got worse. */
  supersedes?: string
}

/** The alert of an event: newly opened, or already ongoing. */
interface StoredAlert {
  id: string
  kind: string
  cause: string
  severity: Severity
  status: AlertStatus
  isNew: boolean
}

async function raiseAll(server: Server, trx: Transaction, events: readonly AlertEvent[]) {
  for (const { type } of events) server.plugins.alerts.kinds.get(type)
  const numbered = events.map(event => ({ id: v7(), event }))
  const kept = await storeAlerts(trx, numbered)
  const worse = numbered.filter(({ event }) => gotWorse(kept.get(keyOf(event)), event))
  const stale = numbered.filter(item => !worse.includes(item) && isStale(kept.get(keyOf(item.event))))
  const superseded = await supersedeAlerts(trx, worse, kept)
  const staleAlerts = stale.map(({ event }) => kept.get(keyOf(event))!)
  await endDismissals(trx, staleAlerts)
  const successors = [
    ...worse.map(item => ({ ...item, supersedes: kept.get(keyOf(item.event))?.id })),
    ...stale,
  ]
  for (const [key, alert] of await storeAlerts(trx, successors)) kept.set(key, alert)
  const raised = events.map(event => kept.get(keyOf(event))!)
  const fresh = raised.filter(({ isNew }) => isNew)
  const twins = new Map(
    events.flatMap((event, place) => (event.sameAs ? [[raised[place]!.id, event.sameAs] as const] : [])),
  )
  await announceAlerts(server, trx, fresh, { superseded, twins })
  return raised.map(({ id, isNew }) => ({ alertId: id, isNew }))
}

const keyOf = ({ type, cause }: Pick<AlertEvent, 'type' | 'cause'>): string => `${type} ${cause}`

/**
 * Inserts alerts, or counts on the ongoing ones of their causes, as the unique index on these decides. An alert that got
 * worse is only locked. Rows are locked, or inserted, in the order of kind and cause, so that no two transactions wait for
 * each other.
 * @returns the alerts by the keys of their events
 */
async function storeAlerts(trx: Transaction, numbered: readonly NumberedEvent[]) {
  const ordered = numbered
    .map(item => ({ ...item, place: Buffer.from(keyOf(item.event)) }))
    .sort((a, b) => Buffer.compare(a.place, b.place))
  for (const [at, { event, place }] of ordered.entries())
    assert(!ordered[at + 1]?.place.equals(place), `Two events of ${keyOf(event)} are raised in one call`)
  const kept = await insertAll(ordered, chunk =>
    rows<StoredAlert>(
      trx,
      `insert into alerts
         (id, company_id, source_id, asset_id, kind, cause, severity, status, rule_name, title, event, context_data,
          supersedes, resolved_at)
       select id, :companyId, source_id, asset_id, kind, cause, severity, status, rule_name, title, event, context_data,
              supersedes, case when status = 'resolved' then now() end
         from unnest(
           cast(:ids as uuid[]), cast(:sourceIds as uuid[]), cast(:assetIds as uuid[]), cast(:kinds as text[]),
           cast(:causes as text[]), cast(:severities as text[]), cast(:statuses as text[]), cast(:ruleNames as text[]),
           cast(:titles as text[]), cast(:events as jsonb[]), cast(:contexts as jsonb[]), cast(:supersedes as uuid[]))
           with ordinality
           as raised (id, source_id, asset_id, kind, cause, severity, status, rule_name, title, event, context_data,
                      supersedes, place)
        order by place
       on conflict (company_id, kind, cause) where ${IS_ONGOING}
       do update set
         occurrences = alerts.occurrences + case when ${IS_WORSE} then 0 else 1 end,
         last_seen_at = case when ${IS_WORSE} then alerts.last_seen_at else now() end
       returning id, kind, cause, severity, status, xmax = 0 as is_new`,
      { companyId: companyOf(trx), order: SEVERITIES, ...eventColumns(chunk) },
    ),
  )
  return new Map(kept.map(alert => [keyOf({ type: alert.kind, cause: alert.cause }), alert]))
}

/** `isWorse` in SQL, of a repeat and the ongoing alert. */
const IS_WORSE = `array_position(cast(:order as text[]), excluded.severity) > array_position(cast(:order as text[]), alerts.severity)`

/** The columns of events as lists. They may quote data with characters that cannot be stored. */
function eventColumns(numbered: readonly NumberedEvent[]): Record<string, unknown[]> {
  const list = (of: (item: NumberedEvent) => unknown) => numbered.map(of)
  return {
    ids: list(({ id }) => id),
    sourceIds: list(({ event }) => event.sourceId),
    assetIds: list(({ event }) => event.asset.id),
    kinds: list(({ event }) => event.type),
    causes: list(({ event }) => event.cause),
    severities: list(({ event }) => event.severity),
    statuses: list(({ event }) => (event.isNews ? 'resolved' : 'triggered')),
    ruleNames: list(({ event }) => storable(event.ruleName)),
    titles: list(({ event }) => storable(event.title)),
    events: list(({ event }) => storableJson(storedEvent(event))),
    contexts: list(({ event }) => storableJson(event.contextData ?? {})),
    supersedes: list(({ supersedes }) => supersedes ?? null),
  }
}

function storedEvent(event: AlertEvent): StoredEvent {
  const { asset } = event
  return {
    type: event.type,
    change_type: event.changeType,
    asset: {
      id: asset.id,
      qualified_name: asset.qualifiedName,
      asset_type: asset.assetType,
      tags: [...(asset.tags ?? [])],
    },
    details: event.details,
  }
}

function gotWorse(kept: StoredAlert | undefined, event: AlertEvent): boolean {
  return kept !== undefined && !kept.isNew && isWorse(event.severity, kept.severity)
}

/** Whether an alert is ongoing only because the previous version of the program resolved it and left `dismissal_lasts` set. */
function isStale(kept: StoredAlert | undefined): boolean {
  return kept !== undefined && !kept.isNew && kept.status === 'resolved'
}

/**
 * Resolves the alerts that got worse, so that new ones are opened and sent: receivers take a second message with the same
 * alert id for a duplicate. Ends the dismissals of those that are not open.
 * @returns the resolved alerts
 */
async function supersedeAlerts(
  trx: Transaction,
  worse: readonly NumberedEvent[],
  kept: ReadonlyMap<string, StoredAlert>,
): Promise<EndedAlerts> {
  const superseded = worse.map(({ id, event }) => ({
    ...kept.get(keyOf(event))!,
    supersededBy: id,
    to: event.severity,
  }))
  const closed = superseded.filter(alert => !isOpen(alert))
  await endDismissals(trx, closed)
  const open = superseded.filter(isOpen)
  const resolutions = new Map(
    open.map(({ id, to, supersededBy }): [string, Resolution] => [
      id,
      { actor: 'system', reason: `It got worse: ${to}`, supersededBy },
    ]),
  )
  const reasonOf = ({ id }: { id: string }) => resolutions.get(id)!
  return { alerts: await markResolved(trx, open, reasonOf), reasonOf }
}

/** Records the first transition of new alerts, and notifies their destinations. */
async function announceAlerts(
  server: Server,
  trx: Transaction,
  fresh: readonly StoredAlert[],
  { superseded, twins }: { superseded: EndedAlerts; twins: AlertTwins },
): Promise<void> {
  if (fresh.length === 0) return
  const transitions = fresh.map(({ id, status }) => ({
    alertId: id,
    fromStatus: null,
    toStatus: status,
    actor: 'system',
  }))
  await insertAll(transitions, chunk => AlertTransition.query(trx).insert(chunk))
  const alerts = await Alert.query(trx)
    .whereRaw('id = any(cast(? as uuid[]))', [fresh.map(({ id }) => id)])
    .orderBy('id')
  await notifyTriggered(server, trx, alerts, { superseded, twins })
  // News is over when it is opened.
  const open = alerts.filter(isOpen)
  await noticeAlerts(server, trx, [...open, ...superseded.alerts])
}
