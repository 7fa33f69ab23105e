import { SEVERITIES } from '../../api.ts'
import type { IncidentNews } from '../../rules/notify-incidents.ts'
import type { Incident } from '../models.ts'
import type { Arrangement } from './assign.ts'
import type { Member } from './cause.ts'
import { namedAsset, summaryOf, type NewActivity } from './store.ts'

/** An arrangement that was stored, with its incidents before and after. */
export interface AppliedArrangement {
  arrangement: Arrangement
  /** Alerts that were put somewhere, with the incident that each had. */
  placed: readonly Member[]
  former: ReadonlyMap<string, Incident>
  after: readonly Incident[]
}

/** Alerts that an entry of a timeline names. */
const MAX_NAMED = 20

/** The entries of timelines about an arrangement, and the incidents that got worse. */
export function describeActivities(applied: AppliedArrangement): {
  activities: NewActivity[]
  worse: IncidentNews['changed']
} {
  const { after, former, arrangement } = applied
  const changes = after.flatMap(incident => changesOf(incident, former.get(incident.id)) ?? [])
  return {
    activities: [
      ...[...arrangement.reopened].map(incidentId => ({
        incidentId,
        activityType: 'reopened' as const,
        metadata: { reason: 'It failed again' },
      })),
      ...after.flatMap(incident => joinActivities(incident, applied)),
      ...changes.flatMap(({ activities }) => activities),
      ...splitActivities(applied),
      ...mergeActivities(arrangement),
    ],
    worse: changes.flatMap(({ incident, reason }) =>
      reason === null ? [] : [{ incident: summaryOf(incident), reason }],
    ),
  }
}

/**
 * What got worse with an incident that was there before, or is known better. A better known cause alone is no reason for
 * another message: the page that the first one leads to shows it, and a pipeline that breaks step by step would send one for
 * each step that its checks find.
 */
function changesOf(incident: Incident, before: Incident | undefined) {
  if (!before) return undefined
  const isWorse = SEVERITIES.indexOf(incident.severity) > SEVERITIES.indexOf(before.severity)
  const isOther = incident.cause.is_named !== false && incident.cause.asset_id !== before.cause.asset_id
  if (!isWorse && !isOther) return undefined
  const { id: incidentId, severity, cause } = incident
  const activities: NewActivity[] = [
    ...(isOther
      ? [
          {
            incidentId,
            activityType: 'cause_changed' as const,
            metadata: { from: namedAsset(before), to: cause.qualified_name, title: cause.summary },
          },
        ]
      : []),
    ...(isWorse
      ? [
          {
            incidentId,
            activityType: 'severity_raised' as const,
            metadata: { from: before.severity, to: severity },
          },
        ]
      : []),
  ]
  const reason = isOther
    ? `It got worse: ${severity}. The cause is ${cause.qualified_name}`
    : `It got worse: ${severity}`
  return { incident, reason: isWorse ? reason : null, activities }
}

const nameAlerts = (alerts: readonly Member[]) => ({
  alert_count: alerts.length,
  alerts: alerts.slice(0, MAX_NAMED).map(({ id, title }) => ({ id, title })),
})

function joinActivities(
  incident: Incident,
  { placed, arrangement: { incidentOf, created } }: AppliedArrangement,
): NewActivity[] {
  const { id: incidentId } = incident
  const joined = placed.filter(({ id }) => incidentOf.get(id) === incidentId)
  if (joined.length === 0) return []
  const isNew = created.has(incidentId)
  return [
    {
      incidentId,
      activityType: isNew ? 'opened' : 'alerts_joined',
      metadata: { ...nameAlerts(joined), ...(isNew && { cause: namedAsset(incident) }) },
    },
  ]
}

/** One entry at each end of the way that alerts went. */
function splitActivities({ placed, arrangement: { moved, actor } }: AppliedArrangement): NewActivity[] {
  const away = placed.filter(({ id }) => moved.has(id))
  const ways = Map.groupBy(away, ({ id, incidentId }) => `${incidentId} ${moved.get(id)}`)
  return [...ways].flatMap(([way, alerts]) => {
    const [from = '', into = ''] = way.split(' ')
    const entry = { activityType: 'split' as const, ...(actor !== null && { actor }) }
    const named = nameAlerts(alerts)
    return [
      { ...entry, incidentId: from, metadata: { ...named, into } },
      { ...entry, incidentId: into, metadata: { ...named, from } },
    ]
  })
}

function mergeActivities({ mergedInto, actor }: Arrangement): NewActivity[] {
  const entry = { activityType: 'merged' as const, ...(actor !== null && { actor }) }
  return [...mergedInto].flatMap(([id, into]) => [
    { ...entry, incidentId: id, metadata: { into } },
    { ...entry, incidentId: into, metadata: { from: id } },
  ])
}
