import { companyOf, rows, type Transaction } from '../../../../server/database/database.ts'
import { readFlow, type Flow } from '../grouping/flow.ts'
import { SYMPTOMS, type LookUps, type Symptom } from '../../api.ts'
import type { Deps } from '../../deps.ts'
import { canCause } from '../grouping/symptoms.ts'
import { IS_OPEN } from '../../models.ts'
import { findAll, findTroubledTables, type RawFinding } from './raw-findings.ts'

/** A finding, in the shape of published clients. */
interface ShownEvidence {
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

interface Capsule {
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
  deps: Deps,
  trx: Transaction,
  { assetId, sourceId, eventType }: { assetId: string; sourceId: string; eventType?: EventType },
): Promise<Capsule> {
  const since = new Date(Date.now() - LOOKBACK_DAYS * DAY_MS)
  const about = new Set([
    assetId,
    ...(assetId === sourceId ? await findTroubledTables(deps, trx, sourceId, since) : []),
  ])
  const flow = await readFlow(deps.lookUps, trx, [...about])
  const above = distancesAbove(about, sourceId, flow)
  const findings = await findAll(deps, trx, [...above.keys()], since, flow)
  const asked = eventType && ASKED[eventType]
  const weighed = findings
    .filter(finding => isRelevant(finding, about, asked))
    .map(finding => ({ finding, confidence: weigh(finding, above.get(finding.assetId) ?? 0) }))
    .toSorted((a, b) => b.confidence - a.confidence || b.finding.at.getTime() - a.finding.at.getTime())
  const best = findCause(
    weighed.map(({ finding }) => finding),
    above,
  )
  const consequences = await findConsequences(deps.lookUps, trx, best?.assetId ?? assetId)
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

/** What lies downstream, that with an open alert first. */
async function findConsequences(
  { lineage }: Partial<LookUps>,
  trx: Transaction,
  assetId: string,
): Promise<ShownEvidence[]> {
  const walked = await lineage?.walk(trx, [assetId], { direction: 'downstream', depth: MAX_DOWNSTREAM_HOPS })
  const nodes = walked?.nodes ?? []
  const distances = new Map(nodes.map(({ id, distance }) => [id, distance]))
  const downstream = await rows<{
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
          where company_id = :companyId and asset_id = t.id and ${IS_OPEN}
          order by created_at limit 1) a on true
      where t.company_id = :companyId and t.id = any(cast(:ids as uuid[]))
      order by a.id is null, t.qualified_name limit ${MAX_SHOWN}`,
    { companyId: companyOf(trx), ids: [...distances.keys()] },
  )
  return downstream.map(({ id, qualifiedName, title, alertId, at }) => ({
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
  const [schedule] = await rows<{ isWatched: boolean }>(
    trx,
    `select exists (select from checks
       where company_id = :companyId and table_id = :id and kind = 'freshness' and is_active) as is_watched`,
    { companyId: companyOf(trx), id: about.id },
  )
  const hasUpstream = [...flow.above(about.id).keys()].some(id => flow.table(id))
  return [
    ...(cause ? [] : ['Nothing that is stored explains it: what changed outside of the watched tables?']),
    ...(hasUpstream ? [] : [`What is ${about.qualifiedName} made from? No lineage above it is known`]),
    ...(schedule?.isWatched
      ? []
      : [`Is ${about.qualifiedName} up to date? No freshness schedule watches it`]),
    ...(cause?.symptom === 'failed_run'
      ? []
      : [`Did the job that writes ${about.qualifiedName} fail? No failed run of it is reported`]),
  ]
}
