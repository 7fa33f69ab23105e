import assert from 'node:assert'
import type { Server } from '@hapi/hapi'
import { v7 } from 'uuid'
import { companyOf, insertAll, rows, type Transaction } from '../../../server/database/database.ts'
import { storable, storableJson } from '../../../server/database/storable.ts'
import { SEVERITIES, type AlertsApi, type Event, type EventType, type Severity } from '../api.ts'
import type { AssetLookUp, Learn, Raised } from '../api.ts'
import { Alert, AlertMove, ONGOING, type Status, type StoredEvent } from '../models.ts'
import { endDismissals, isOpen, markResolved, resolveAll, type Closing } from './resolve.ts'
import { forgetAssets } from '../rules/rules.ts'
import { notifyBegun, type Ended } from './notify.ts'
import { unwatch } from './orphaned.ts'

/** `server.plugins.alerts` of a server. */
export function makeAlertsApi(server: Server): AlertsApi {
  const learners = new Map<EventType, Learn>()
  let assets: AssetLookUp | undefined
  return {
    async raise(trx, event) {
      const [raised] = await raiseAll(server, trx, [event])
      return raised!
    },
    raiseAll: (trx, events) => raiseAll(server, trx, events),
    resolve: async (trx, type, cause) => (await resolveAll(server, trx, type, [cause])) > 0,
    resolveAll: (trx, type, causes, reason) => resolveAll(server, trx, type, causes, reason),
    unwatch: (trx, what) => unwatch(server, trx, what),
    forgetAssets,
    onExpected: (type, learn) => void learners.set(type, learn),
    assetsFrom: lookUp => void (assets = lookUp),
    knownAssets: async (trx, ids) => (await assets?.known(trx, ids)) ?? [],
    assetIdOf: async (trx, asset) => (await assets?.idOf(trx, asset)) ?? asset,
    expected: async (trx, { id, kind, cause, actor }) =>
      (await learners.get(kind)?.(trx, { id, cause, actor })) ?? false,
  }
}

const isWorse = (one: Severity, other: Severity) => SEVERITIES.indexOf(one) > SEVERITIES.indexOf(other)

/** An event with the id of the alert that is opened if none of its cause is open. */
interface Numbered {
  id: string
  event: Event
  /** The alert that this one replaces because it got worse. */
  supersedes?: string
}

/** The alert of an event: opened for it, or ongoing before. */
interface Kept {
  id: string
  kind: EventType
  cause: string
  severity: Severity
  status: Status
  isNew: boolean
}

async function raiseAll(server: Server, trx: Transaction, events: readonly Event[]): Promise<Raised[]> {
  const numbered = events.map(event => ({ id: v7(), event }))
  const kept = await store(trx, numbered)
  const worse = numbered.filter(({ event }) => gotWorse(kept.get(keyOf(event)), event))
  const stale = numbered.filter(item => !worse.includes(item) && isStale(kept.get(keyOf(item.event))))
  const superseded = await supersede(trx, worse, kept)
  await endDismissals(
    trx,
    stale.map(({ event }) => kept.get(keyOf(event))!),
  )
  const successors = [
    ...worse.map(item => ({ ...item, supersedes: kept.get(keyOf(item.event))?.id })),
    ...stale,
  ]
  for (const [key, alert] of await store(trx, successors)) kept.set(key, alert)
  const raised = events.map(event => kept.get(keyOf(event))!)
  const fresh = raised.filter(({ isNew }) => isNew)
  await announce(server, trx, fresh, superseded)
  return raised.map(({ id, isNew }) => ({ alertId: id, isNew }))
}

function keyOf({ type, cause }: Pick<Event, 'type' | 'cause'>): string {
  return `${type} ${cause}`
}

/**
 * Inserts alerts, or counts on the ongoing ones of their causes: the unique index on these decides which. One that
 * its event finds worse than it was is only locked. Rows are locked in the order of kind and cause, whether they are
 * there or not, so that no two transactions wait for each other.
 * @returns the alerts by the keys of their events
 */
async function store(trx: Transaction, numbered: readonly Numbered[]): Promise<Map<string, Kept>> {
  const ordered = numbered
    .map(item => ({ ...item, place: Buffer.from(keyOf(item.event)) }))
    .sort((a, b) => Buffer.compare(a.place, b.place))
  for (const [at, { event, place }] of ordered.entries())
    assert(!ordered[at + 1]?.place.equals(place), `Two events of ${keyOf(event)} are raised in one call`)
  const kept = await insertAll(ordered, chunk =>
    rows<Kept>(
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
       on conflict (company_id, kind, cause) where ${ONGOING}
       do update set
         occurrences = alerts.occurrences + case when ${WORSE} then 0 else 1 end,
         last_seen_at = case when ${WORSE} then alerts.last_seen_at else now() end
       returning id, kind, cause, severity, status, xmax = 0 as is_new`,
      { companyId: companyOf(trx), order: SEVERITIES, ...columns(chunk) },
    ),
  )
  return new Map(kept.map(alert => [keyOf({ type: alert.kind, cause: alert.cause }), alert]))
}

/** `isWorse` of a repeat and the alert that is ongoing. */
const WORSE = `array_position(cast(:order as text[]), excluded.severity) > array_position(cast(:order as text[]), alerts.severity)`

/** What is stored of events, a list a column. They may quote data, which holds any character. */
function columns(numbered: readonly Numbered[]): Record<string, unknown[]> {
  const list = (of: (item: Numbered) => unknown) => numbered.map(of)
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

function storedEvent(event: Event): StoredEvent {
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

function gotWorse(kept: Kept | undefined, event: Event): boolean {
  return kept !== undefined && !kept.isNew && isWorse(event.severity, kept.severity)
}

/** Whether an alert counts as ongoing only because the version before resolved it and left `dismissal_lasts` set. */
function isStale(kept: Kept | undefined): boolean {
  return kept !== undefined && !kept.isNew && kept.status === 'resolved'
}

/**
 * Closes the alerts of causes that have got worse, so that new ones are opened and sent. They have to be new: receivers
 * take a second message with the same alert id for a duplicate.
 * @returns those that were open; the dismissal of the others is over
 */
async function supersede(
  trx: Transaction,
  worse: readonly Numbered[],
  kept: ReadonlyMap<string, Kept>,
): Promise<Ended> {
  const superseded = worse.map(({ id, event }) => ({
    ...kept.get(keyOf(event))!,
    supersededBy: id,
    to: event.severity,
  }))
  await endDismissals(
    trx,
    superseded.filter(alert => !isOpen(alert)),
  )
  const open = superseded.filter(isOpen)
  const closings = new Map(
    open.map(({ id, to, supersededBy }): [string, Closing] => [
      id,
      { actor: 'system', reason: `It got worse: ${to}`, supersededBy },
    ]),
  )
  const reasonOf = ({ id }: { id: string }) => closings.get(id)!
  return { alerts: await markResolved(trx, open, reasonOf), reasonOf }
}

/** Records that alerts were opened, and notifies those concerned. */
async function announce(
  server: Server,
  trx: Transaction,
  fresh: readonly Kept[],
  superseded: Ended,
): Promise<void> {
  if (fresh.length === 0) return
  const moves = fresh.map(({ id, status }) => ({
    alertId: id,
    fromStatus: null,
    toStatus: status,
    actor: 'system',
  }))
  await insertAll(moves, chunk => AlertMove.query(trx).insert(chunk))
  const alerts = await Alert.query(trx)
    .whereRaw('id = any(cast(? as uuid[]))', [fresh.map(({ id }) => id)])
    .orderBy('id')
  await notifyBegun(server, trx, alerts, superseded)
}
