import assert from 'node:assert'
import { v7 } from 'uuid'
import { companyOf, insertAll, rows, type Transaction } from '../../../server/database/database.ts'
import { storable, storableJson } from '../../../server/database/storable.ts'
import { SEVERITIES, type AlertEvent, type RaiseResult, type Severity } from '../api.ts'
import type { Deps } from '../deps.ts'
import { Alert, IS_ONGOING, isOpen, type AlertStatus, type StoredEvent } from '../models.ts'
import { notifyOpened, type EndedAlerts } from '../rules/notify.ts'
import { nameContracts } from '../named-contracts.ts'
import { noticeAlerts } from './notice.ts'
import { endDismissals, markResolved } from './resolve.ts'
import { writeTitles, type TitledEvent } from './title.ts'

const isWorse = (one: Severity, other: Severity) => SEVERITIES.indexOf(one) > SEVERITIES.indexOf(other)

/** An event with the id of the alert that it opens if its cause has no ongoing one. */
interface NumberedEvent {
  id: string
  event: TitledEvent
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

/**
 * Opens alerts, or counts on the ongoing ones of their causes. One that got worse is replaced by a new one: receivers take
 * a second message with the same alert id for a duplicate.
 * @throws if a kind is unknown, or two events have the same kind and cause
 * @returns the results in the order of the events
 */
export async function raiseAll(
  deps: Deps,
  trx: Transaction,
  given: readonly AlertEvent[],
): Promise<RaiseResult[]> {
  for (const { type } of given) deps.kinds.get(type)
  const events = await nameContracts(deps.lookUps, trx, given)
  const titled = await writeTitles(deps, trx, events)
  const numbered = titled.map(event => ({ id: v7(), event }))
  const stored = await storeAlerts(trx, numbered)
  const worse = numbered.filter(({ event }) => gotWorse(stored.get(keyOf(event)), event))
  const superseded = await supersedeAlerts(trx, worse, stored)
  const successors = worse.map(item => ({ ...item, supersedes: stored.get(keyOf(item.event))!.id }))
  const raised = new Map([...stored, ...(await storeAlerts(trx, successors))])
  const results = events.map(event => {
    const { id: alertId, isNew } = raised.get(keyOf(event))!
    return { alertId, isNew }
  })
  const opened = await recordOpened(
    trx,
    [...raised.values()].filter(({ isNew }) => isNew),
  )
  if (opened.length > 0) {
    await notifyOpened(deps, trx, opened, superseded)
    // News is over when it is opened.
    await noticeAlerts(deps, trx, [...opened.filter(isOpen), ...superseded.alerts])
  }
  return results
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
  const stored = await insertAll(ordered, chunk =>
    rows<StoredAlert>(trx, STORE_ALERTS, {
      companyId: companyOf(trx),
      order: SEVERITIES,
      ...eventColumns(chunk),
    }),
  )
  return new Map(stored.map(alert => [keyOf({ type: alert.kind, cause: alert.cause }), alert]))
}

/** `isWorse` in SQL, of a repeat and the ongoing alert. */
const IS_WORSE = `array_position(cast(:order as text[]), excluded.severity) > array_position(cast(:order as text[]), alerts.severity)`

const STORE_ALERTS = `
  insert into alerts
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
   returning id, kind, cause, severity, status, xmax = 0 as is_new`

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

function storedEvent(event: TitledEvent): StoredEvent {
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
    ...(event.finding && { finding: event.finding }),
  }
}

function gotWorse(stored: StoredAlert | undefined, event: TitledEvent): boolean {
  return stored !== undefined && !stored.isNew && isWorse(event.severity, stored.severity)
}

/**
 * Resolves the alerts that got worse, so that new ones are opened and sent: receivers take a second message with the same
 * alert id for a duplicate. Ends the dismissals of those that are not open.
 * @returns the resolved alerts
 */
async function supersedeAlerts(
  trx: Transaction,
  worse: readonly NumberedEvent[],
  stored: ReadonlyMap<string, StoredAlert>,
): Promise<EndedAlerts> {
  const superseded = worse.map(({ id, event }) => ({
    alert: stored.get(keyOf(event))!,
    resolution: { actor: 'system', reason: `It got worse: ${event.severity}`, supersededBy: id },
  }))
  const alerts = superseded.map(({ alert }) => alert)
  const resolutions = new Map(superseded.map(({ alert, resolution }) => [alert.id, resolution]))
  const reasonOf = ({ id }: { id: string }) => resolutions.get(id)!
  await endDismissals(
    trx,
    alerts.filter(alert => !isOpen(alert)),
  )
  return { alerts: await markResolved(trx, alerts.filter(isOpen), reasonOf), reasonOf }
}

/** Records the first transition of new alerts, in the statement that reads them. @returns these, by id */
async function recordOpened(trx: Transaction, opened: readonly StoredAlert[]): Promise<Alert[]> {
  if (opened.length === 0) return []
  const ids = opened.map(({ id }) => id)
  const statuses = opened.map(({ status }) => status)
  return Alert.query(trx)
    .with('recorded', trx.raw(RECORD_OPENED, { companyId: companyOf(trx), ids, statuses }))
    .whereRaw('id = any(cast(? as uuid[]))', [ids])
    .orderBy('id')
}

const RECORD_OPENED = `
  insert into alert_history (company_id, alert_id, to_status, actor)
  select :companyId, id, status, 'system'
    from unnest(cast(:ids as uuid[]), cast(:statuses as text[])) as opened (id, status)`
