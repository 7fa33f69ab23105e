import type { Server } from '@hapi/hapi'
import { companyOf, rows, type Transaction } from '../../../../server/database/database.ts'
import { findFailedRuns } from '../grouping/findings.ts'
import { readFlow, type Flow } from '../grouping/flow.ts'
import { canCause, symptomOf, SYMPTOMS, type Symptom } from '../grouping/symptoms.ts'

/** A finding, in the shape of published clients. */
export interface ShownEvidence {
  event_type: string
  /** From 0 to 1. */
  confidence: number
  timestamp: Date
  summary: string
  details: Record<string, unknown>
  /** The qualified name, and the id of the asset. */
  source: string
  source_id: string
}

/** A finding about an asset, before it is weighed. */
interface RawFinding {
  symptom: Symptom
  eventType: string
  assetId: string
  qualifiedName: string
  at: Date
  summary: string
  details: Record<string, unknown>
}

export interface Capsule {
  hypothesis: string | null
  triggers: ShownEvidence[]
  consequences: ShownEvidence[]
  confidence: number | null
  fix: string | null
  openQuestions: string[]
}

export const EVENT_TYPES = ['anomaly', 'freshness', 'schema_change', 'validity'] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** What callers ask about, as symptoms. */
const ASKED: Record<EventType, readonly Symptom[]> = {
  anomaly: ['volume', 'quality'],
  freshness: ['stale'],
  schema_change: ['drift'],
  validity: ['quality'],
}

const LOOKBACK_DAYS = 7
const DAY_MS = 86_400_000
const MAX_SHOWN = 20
const MAX_DOWNSTREAM_HOPS = 5
/** Tables of a source that are looked at. */
const MAX_TROUBLED = 200
/** Alerts that may explain something: open ones, and those that ended lately. */
const IS_CURRENT = `(status in ('triggered', 'acknowledged', 'snoozed') or created_at >= :since and status = 'resolved')
        and kind <> 'discovery_complete'`

/** How much a symptom says, if it is found on the asset itself. Each step upstream takes a tenth away. */
const WEIGHTS: Record<Symptom, number> = {
  connection: 0.9,
  drift: 0.8,
  failed_run: 0.9,
  stale: 0.75,
  volume: 0.65,
  quality: 0.5,
}
const MIN_CONFIDENCE = 0.2

/** What to do next about a cause. */
const FIXES: Record<Symptom, (name: string) => string> = {
  connection: name => `Test the connection of ${name}, and mend its credentials or its network`,
  drift: name =>
    `Compare the schema change of ${name} with what reads it: adapt the readers, or take it back`,
  failed_run: name => `Read the log of the job that writes ${name}, and run it again`,
  stale: name => `See why ${name} was not loaded, and run its job again`,
  volume: name => `Compare the last load of ${name} with the one before it`,
  quality: name => `Look at the invalid rows of ${name}, and at what wrote them`,
}

/**
 * Collects what is known of an asset and of what it is made from, and names what most likely caused its trouble. A source is
 * explained by its tables that have alerts.
 */
export async function explainAsset(
  server: Server,
  trx: Transaction,
  { assetId, sourceId, eventType }: { assetId: string; sourceId: string; eventType?: EventType },
): Promise<Capsule> {
  const since = new Date(Date.now() - LOOKBACK_DAYS * DAY_MS)
  const about = new Set([
    assetId,
    ...(assetId === sourceId ? await findTroubledTables(trx, sourceId, since) : []),
  ])
  const flow = await readFlow(server, trx, [...about])
  const above = distancesAbove(about, sourceId, flow)
  const found = await findAll(server, trx, [...above.keys()], since, flow)
  const asked = eventType && ASKED[eventType]
  const weighed = found
    .filter(finding => isRelevant(finding, about, asked))
    .map(finding => ({ finding, confidence: weigh(finding, above.get(finding.assetId) ?? 0) }))
    .toSorted((a, b) => b.confidence - a.confidence || b.finding.at.getTime() - a.finding.at.getTime())
  const best = findCause(
    weighed.map(({ finding }) => finding),
    above,
  )
  const consequences = await findConsequences(server, trx, best?.assetId ?? assetId)
  const confidence = best ? weigh(best, above.get(best.assetId) ?? 0) : null
  return {
    hypothesis: best ? hypothesisOf(best, about) : null,
    triggers: weighed.slice(0, MAX_SHOWN).map(({ finding, confidence: each }) => shownOf(finding, each)),
    consequences,
    confidence,
    fix: best ? FIXES[best.symptom](best.qualifiedName) : null,
    openQuestions: await openQuestions(trx, { assetId, cause: best, flow }),
  }
}

/** The tables of a source with open or recent alerts, those with the newest first. */
async function findTroubledTables(trx: Transaction, sourceId: string, since: Date): Promise<string[]> {
  const found = await rows<{ assetId: string }>(
    trx,
    `select asset_id from alerts
      where company_id = :companyId and source_id = :sourceId and asset_id <> :sourceId and ${IS_CURRENT}
      group by asset_id order by max(created_at) desc limit ${MAX_TROUBLED}`,
    { companyId: companyOf(trx), sourceId, since },
  )
  return found.map(({ assetId }) => assetId)
}

/** How many steps above what is asked about each asset lies, at most; the source of a table counts as half a step. */
function distancesAbove(about: ReadonlySet<string>, sourceId: string, flow: Flow): Map<string, number> {
  const above = new Map([[sourceId, 0.5], ...[...about].map((id): [string, number] => [id, 0])])
  for (const id of about)
    for (const [upstream, distance] of flow.above(id))
      if (upstream !== id) above.set(upstream, Math.max(above.get(upstream) ?? 0, distance))
  return above
}

/** What is on the asset itself is relevant if it was asked for; what is upstream, if it can have caused that. */
function isRelevant(
  { symptom, assetId }: RawFinding,
  about: ReadonlySet<string>,
  asked: readonly Symptom[] | undefined,
): boolean {
  const effects = asked ?? SYMPTOMS
  return (
    (about.has(assetId) && effects.includes(symptom)) || effects.some(effect => canCause(symptom, effect))
  )
}

function weigh({ symptom }: RawFinding, distance: number): number {
  return Math.round(Math.max(MIN_CONFIDENCE, WEIGHTS[symptom] - Math.floor(distance) * 0.1) * 100) / 100
}

/** The most upstream finding that none above it explains; of several, the strongest, then the first. */
function findCause(
  findings: readonly RawFinding[],
  above: ReadonlyMap<string, number>,
): RawFinding | undefined {
  const distance = ({ assetId }: RawFinding) => above.get(assetId) ?? 0
  return findings.toSorted(
    (a, b) =>
      distance(b) - distance(a) ||
      SYMPTOMS.indexOf(a.symptom) - SYMPTOMS.indexOf(b.symptom) ||
      a.at.getTime() - b.at.getTime(),
  )[0]
}

function hypothesisOf({ assetId, qualifiedName, summary }: RawFinding, about: ReadonlySet<string>): string {
  return about.has(assetId)
    ? summary
    : `${qualifiedName}, which lies upstream, had a problem first: ${summary}`
}

function shownOf(
  { eventType, at, summary, details, qualifiedName, assetId }: RawFinding,
  confidence: number,
): ShownEvidence {
  return {
    event_type: eventType,
    confidence,
    timestamp: at,
    summary,
    details,
    source: qualifiedName,
    source_id: assetId,
  }
}

interface AlertFinding {
  id: string
  kind: string
  assetId: string
  title: string
  qualifiedName: string
  details: Record<string, unknown> | null
  createdAt: Date
}

/** Open and recent alerts, schema changes that none of these speaks of, tables that are late, and runs that failed. */
async function findAll(
  server: Server,
  trx: Transaction,
  assetIds: readonly string[],
  since: Date,
  flow: Flow,
): Promise<RawFinding[]> {
  const bindings = { companyId: companyOf(trx), ids: [...assetIds], since, most: MAX_SHOWN * 5 }
  const alerts = await rows<AlertFinding>(
    trx,
    `select id, kind, asset_id, title, event #>> '{asset,qualified_name}' as qualified_name,
            event -> 'details' as details, created_at
       from alerts
      where company_id = :companyId and asset_id = any(cast(:ids as uuid[]))
        and ${IS_CURRENT}
      order by created_at desc limit :most`,
    bindings,
  )
  const changes = await rows<{
    tableId: string
    changeType: string
    objectName: string
    impact: string
    detectedAt: Date
    qualifiedName: string
  }>(
    trx,
    `select c.table_id, c.change_type, c.object_name, c.impact, c.detected_at, t.qualified_name
       from schema_changes c join tables t on t.company_id = :companyId and t.id = c.table_id
      where c.company_id = :companyId and c.table_id = any(cast(:ids as uuid[])) and c.detected_at >= :since
        and c.impact <> 'low'
      order by c.detected_at desc limit :most`,
    bindings,
  )
  const late = await rows<{ tableId: string; qualifiedName: string; lastUpdated: Date | null; at: Date }>(
    trx,
    `select s.table_id, t.qualified_name, s.last_updated, coalesce(s.last_check_at, now()) as at
       from freshness_schedules s join tables t on t.company_id = :companyId and t.id = s.table_id
      where s.company_id = :companyId and s.table_id = any(cast(:ids as uuid[])) and s.is_active
        and s.status = 'stale' limit :most`,
    bindings,
  )
  const hasAlert = new Set(alerts.map(({ assetId, kind }) => `${assetId} ${kind}`))
  return [
    ...alerts.map(alert => ({
      symptom: symptomOf(alert.kind, alert.details ?? {}),
      eventType: alert.kind,
      assetId: alert.assetId,
      qualifiedName: alert.qualifiedName,
      at: alert.createdAt,
      summary: alert.title,
      details: { alert_id: alert.id },
    })),
    ...changes
      .filter(({ tableId }) => !hasAlert.has(`${tableId} schema_change`))
      .map(({ tableId, changeType, objectName, impact, detectedAt, qualifiedName }) => ({
        symptom: 'drift' as const,
        eventType: 'schema_change',
        assetId: tableId,
        qualifiedName,
        at: detectedAt,
        summary: `${qualifiedName}: ${changeType.replaceAll('_', ' ')} (${objectName})`,
        details: { change_type: changeType, object_name: objectName, impact },
      })),
    ...late
      .filter(({ tableId }) => !hasAlert.has(`${tableId} freshness_violation`))
      .map(({ tableId, qualifiedName, lastUpdated, at }) => ({
        symptom: 'stale' as const,
        eventType: 'freshness_violation',
        assetId: tableId,
        qualifiedName,
        at,
        summary: `${qualifiedName} is late: its newest data is of ${lastUpdated?.toISOString() ?? 'an unknown time'}`,
        details: { last_updated: lastUpdated },
      })),
    ...(await findFailedRuns(server, trx, assetIds, since, flow)).map(({ createdAt: at, ...run }) => ({
      ...run,
      at,
      details: {},
    })),
  ]
}

/** What lies downstream, that with an open alert first. */
async function findConsequences(server: Server, trx: Transaction, assetId: string): Promise<ShownEvidence[]> {
  const { nodes } = await server.plugins.lineage.walk(trx, [assetId], {
    direction: 'downstream',
    depth: MAX_DOWNSTREAM_HOPS,
  })
  const distances = new Map(nodes.map(({ id, distance }) => [id, distance]))
  const found = await rows<{
    id: string
    qualifiedName: string
    title: string | null
    alertId: string | null
    at: Date
  }>(
    trx,
    `select t.id, t.qualified_name, a.title, a.id as alert_id, coalesce(a.created_at, now()) as at
       from tables t
       left join lateral (
         select id, title, created_at from alerts
          where company_id = :companyId and asset_id = t.id and status in ('triggered', 'acknowledged', 'snoozed')
          order by created_at limit 1) a on true
      where t.company_id = :companyId and t.id = any(cast(:ids as uuid[]))
      order by a.id is null, t.qualified_name limit ${MAX_SHOWN}`,
    { companyId: companyOf(trx), ids: [...distances.keys()] },
  )
  return found.map(({ id, qualifiedName, title, alertId, at }) => ({
    event_type: alertId === null ? 'downstream' : 'alert',
    confidence: alertId === null ? 0.5 : 0.8,
    timestamp: at,
    summary: title ?? `${qualifiedName} is made from it, ${stepsOf(distances.get(id) ?? 1)}`,
    details: { distance: distances.get(id) ?? null, ...(alertId !== null && { alert_id: alertId }) },
    source: qualifiedName,
    source_id: id,
  }))
}

const stepsOf = (steps: number): string => (steps === 1 ? '1 step away' : `${steps} steps away`)

/** What cannot be answered from what is stored. */
async function openQuestions(
  trx: Transaction,
  { assetId, cause, flow }: { assetId: string; cause: RawFinding | undefined; flow: Flow },
): Promise<string[]> {
  const about = flow.table(cause?.assetId ?? assetId)
  if (!about) return []
  const [known] = await rows<{ isWatched: boolean }>(
    trx,
    `select exists (select from freshness_schedules
       where company_id = :companyId and table_id = :id and is_active) as is_watched`,
    { companyId: companyOf(trx), id: about.id },
  )
  const hasUpstream = [...flow.above(about.id).keys()].some(id => flow.table(id))
  return [
    ...(cause ? [] : ['Nothing that is stored explains it: what changed outside of the watched tables?']),
    ...(hasUpstream ? [] : [`What is ${about.qualifiedName} made from? No lineage above it is known`]),
    ...(known?.isWatched ? [] : [`Is ${about.qualifiedName} up to date? No freshness schedule watches it`]),
    ...(cause?.symptom === 'failed_run'
      ? []
      : [`Did the job that writes ${about.qualifiedName} fail? No failed run of it is reported`]),
  ]
}
