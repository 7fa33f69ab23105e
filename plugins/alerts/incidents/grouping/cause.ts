import type { Severity, Symptom } from '../../api.ts'
import { parseDuration } from '../../../../server/settings/durations.ts'
import type { Flow } from './flow.ts'
import { isChangeSet } from './change-sets.ts'
import { describeCause } from './describe-cause.ts'
import {
  explains,
  findRoots,
  MAX_COMPARED,
  MAX_LATENESS_MS,
  type GroupItem,
  type RootFields,
} from './roots.ts'
import { canCause, weaknessOf } from './symptoms.ts'

/** Something that was found, with how much it says of the cause. */
export interface Evidence {
  symptom: Symptom
  /** The kind of alert, or `failed_run`. */
  event_type: string
  /** From 0 to 1. */
  confidence: number
  /** ISO 8601. */
  at: string
  /** One sentence. */
  summary: string
  asset_id: string
  qualified_name: string
  alert_id: string | null
}

/** What is named as the cause of an incident. */
export interface NamedCause extends Evidence {
  /** The severity of its alert; that of a finding without one is `warning`. */
  severity: Severity
  /** False of several changes of one discovery: it is the worst of them, and causes none. Absent where it is a cause. */
  is_named?: false
  /** One sentence: how sure it is that this is the cause, and by what. Absent of incidents of older versions. */
  explanation?: string
  /** What speaks for it, the strongest first; itself included. */
  evidence: Evidence[]
}

/** An alert of an incident, with what is said of it. */
export interface Member extends GroupItem {
  title: string
  qualifiedName: string
  details: Record<string, unknown>
}

/** A finding beside the alerts of an incident: a run that failed, or a schema change in the incident of its discovery. */
export interface Finding {
  symptom: Symptom
  eventType: string
  assetId: string
  qualifiedName: string
  /** When it was found. */
  createdAt: Date
  summary: string
  severity: Severity
  /** Null where no alert speaks of it. */
  alertId: string | null
}

const MAX_EVIDENCE = 10

/** Whether an alert can be the cause of more than additions to a schema. */
const breaks = ({ symptom, severity }: RootFields) => symptom !== 'drift' || severity !== 'info'

/**
 * Names the cause: of the alerts that no other one explains the one that explains most, then the strongest, then the
 * first; an addition to a schema only where nothing else is there. A finding upstream that explains it stands before it.
 */
export function nameCause(all: readonly Member[], findings: readonly Finding[], flow: Flow): NamedCause {
  const members = all.slice(0, MAX_COMPARED)
  if (isChangeSet(members, flow)) return showWorst(members)
  const roots = findRoots(members, flow)
  const scored = roots.map(root => ({ root, explained: countExplained(root, members, flow) }))
  const [best] = scored.toSorted(
    (a, b) =>
      Number(breaks(b.root)) - Number(breaks(a.root)) ||
      b.explained - a.explained ||
      weaknessOf(a.root.symptom, a.root.severity) - weaknessOf(b.root.symptom, b.root.severity) ||
      a.root.createdAt.getTime() - b.root.createdAt.getTime(),
  )
  if (!best) throw new Error('An incident has at least one alert')
  const { root, explained } = best
  const own = members.filter(({ assetId }) => assetId === root.assetId).toSorted(byStrength)
  const shown = own[0] ?? root
  const confidence = confidenceOf(shown, explained, roots)
  const evidence = [shown, ...own.filter(each => each !== shown)].map(each =>
    evidenceOf(findingOf(each), confidence),
  )
  const ownIds = new Set(all.map(({ id }) => id))
  const finding = strongestFinding(
    shown,
    findings.filter(({ alertId }) => alertId === null || !ownIds.has(alertId)),
    members,
    flow,
  )
  const first = finding ? evidenceOf(finding, confidence) : evidence[0]!
  const { severity } = finding ?? shown
  return {
    ...first,
    severity,
    explanation: describeCause({ ...first, severity, at: new Date(first.at) }, members, flow),
    evidence: [...(finding ? [first] : []), ...evidence].slice(0, MAX_EVIDENCE),
  }
}

/** The worst of several changes of one discovery, as the cause of none. */
function showWorst(members: readonly Member[]): NamedCause {
  const changes = members.toSorted(byStrength)
  const evidence = changes.slice(0, MAX_EVIDENCE).map(each => evidenceOf(findingOf(each), 0))
  const tables = new Set(members.map(({ assetId }) => assetId)).size
  return {
    ...evidence[0]!,
    alert_id: null,
    severity: changes[0]!.severity,
    is_named: false,
    explanation: `No cause is named: one discovery found changes of ${tables} tables, and several of them changed by themselves`,
    evidence,
  }
}

const findingOf = (member: Member): Finding => ({
  ...member,
  eventType: member.kind,
  summary: member.title,
  alertId: member.id,
})

function countExplained(root: RootFields, members: readonly Member[], flow: Flow): number {
  return new Set(members.flatMap(each => (explains(root, each, flow) ? [each.assetId] : []))).size
}

function byStrength(a: Member, b: Member): number {
  return (
    weaknessOf(a.symptom, a.severity) - weaknessOf(b.symptom, b.severity) ||
    a.createdAt.getTime() - b.createdAt.getTime()
  )
}

/**
 * How sure the cause is: surer with each table that it explains, and with a symptom that shows what went wrong; less sure
 * where other alerts of the incident stay unexplained.
 */
function confidenceOf(root: Member, explained: number, roots: readonly Member[]): number {
  const rivals = new Set(roots.map(({ assetId }) => assetId)).size - 1
  const strength = root.symptom === 'quality' ? 0.5 : 0.65
  const value = strength + Math.min(explained, 3) * 0.1 - Math.min(rivals, 3) * 0.1
  return Math.round(Math.min(0.95, Math.max(0.2, value)) * 100) / 100
}

function evidenceOf(
  { symptom, eventType, createdAt, summary, assetId, qualifiedName, alertId }: Finding,
  confidence: number,
): Evidence {
  return {
    symptom,
    event_type: eventType,
    confidence,
    at: createdAt.toISOString(),
    summary,
    asset_id: assetId,
    qualified_name: qualifiedName,
    alert_id: alertId,
  }
}

/**
 * The finding on the root's own table or above it that can have caused it, and that no other one explains: of several the
 * nearest, then the one that explains most.
 */
function strongestFinding(
  root: Member,
  findings: readonly Finding[],
  members: readonly Member[],
  flow: Flow,
): Finding | undefined {
  const fitting = findRoots(findings, flow).flatMap(finding => {
    const distance = flow.distance(finding.assetId, root.assetId)
    const isFitting =
      distance !== undefined &&
      canCause(finding.symptom, root.symptom) &&
      finding.createdAt.getTime() - root.createdAt.getTime() <= MAX_LATENESS_MS
    return isFitting ? [{ finding, distance, explained: countExplained(finding, members, flow) }] : []
  })
  return fitting.toSorted(
    (a, b) =>
      a.distance - b.distance ||
      b.explained - a.explained ||
      a.finding.createdAt.getTime() - b.finding.createdAt.getTime(),
  )[0]?.finding
}

/** When the problem began, where its alert shows it: late data was late from the moment that its threshold was passed. */
export function beginOf({ symptom, details, createdAt }: Member): Date | null {
  const { last_updated: updated, sla_threshold: threshold } = details
  if (symptom !== 'stale' || typeof updated !== 'string' || typeof threshold !== 'string') return null
  const seconds = parseDuration(threshold)
  const at = new Date(Date.parse(updated) + (seconds ?? Number.NaN) * 1_000)
  return Number.isNaN(at.getTime()) || at > createdAt ? null : at
}
