import type { NamedCause, Member } from './cause.ts'
import { discoveryOf } from './change-sets.ts'
import type { Flow } from './flow.ts'

/** Why an alert belongs to its incident. */
export const MEMBERSHIP_REASONS = [
  'cause',
  'same_table',
  'downstream',
  'upstream',
  'same_discovery',
  'person',
  'former_lineage',
] as const
export type MembershipReason = (typeof MEMBERSHIP_REASONS)[number]

/** Why an alert belongs to its incident, as it is stored. */
export interface Membership {
  reason: Exclude<MembershipReason, 'person'>
  /** Steps of the flow of data from or to the table that it belongs by; null without such a way. */
  steps: number | null
  /** The qualified name of the table that it belongs by; null for the cause, and where none is named. */
  relative_to: string | null
}

/** States for each alert of an incident why it belongs there: by the cause, or else by the nearest of the other alerts. */
export function explainMemberships(
  members: readonly Member[],
  cause: NamedCause,
  flow: Flow,
): Map<string, Membership> {
  return new Map(members.map(member => [member.id, explainMembership(member, members, cause, flow)]))
}

function explainMembership(
  member: Member,
  members: readonly Member[],
  cause: NamedCause,
  flow: Flow,
): Membership {
  if (cause.is_named === false) return { reason: 'same_discovery', steps: null, relative_to: null }
  if (member.id === cause.alert_id) return { reason: 'cause', steps: null, relative_to: null }
  const byCause = relate(member, { assetId: cause.asset_id, qualifiedName: cause.qualified_name }, flow)
  if (byCause) return byCause
  const others = members.filter(({ id }) => id !== member.id)
  const discovery = discoveryOf(member)
  if (discovery !== undefined && others.some(other => discoveryOf(other) === discovery))
    return { reason: 'same_discovery', steps: null, relative_to: cause.qualified_name }
  const [nearest] = others
    .flatMap(other => relate(member, other, flow) ?? [])
    .toSorted((a, b) => (a.steps ?? 0) - (b.steps ?? 0))
  const above = others.flatMap(({ assetId, qualifiedName }) => {
    const steps = flow.distance(member.assetId, assetId)
    return steps === undefined ? [] : [{ steps, qualifiedName }]
  })
  const [first] = above.toSorted((a, b) => a.steps - b.steps)
  if (nearest) return nearest
  if (first) return { reason: 'upstream', steps: Math.ceil(first.steps), relative_to: first.qualifiedName }
  return { reason: 'former_lineage', steps: null, relative_to: cause.qualified_name }
}

function relate(
  { assetId }: Member,
  to: Pick<Member, 'assetId' | 'qualifiedName'>,
  flow: Flow,
): Membership | undefined {
  const steps = flow.distance(to.assetId, assetId)
  if (steps === undefined) return undefined
  if (steps === 0) return { reason: 'same_table', steps: null, relative_to: to.qualifiedName }
  // The way from a source to its own tables is half a step.
  return { reason: 'downstream', steps: Math.ceil(steps), relative_to: to.qualifiedName }
}
