import type { Activity } from '../timeline/activity.ts'
import type { Incident } from './requests.ts'

type Message = Incident['messages'][number]
type IncidentActivity = Incident['activities'][number]

/** An entry of the timeline of an incident: one activity, or several that belong together. */
export interface Entry extends Activity {
  /** Alerts that came with it. */
  alerts: { id: string; title: string }[]
  alertCount: number
  /** Seconds from its first part to its last. */
  seconds: number
  /** Messages that were sent together, or the one that a person sent. */
  messages: Message[]
}

/** What a system does within so long is one entry: a fault reaches its tables scan by scan. */
const BURST_MS = 10 * 60_000
/** What the system notes while alerts come together, which the entry of these alerts covers. */
const COVERED = new Set(['cause_changed', 'severity_raised'])
const JOINING = new Set(['opened', 'alerts_joined'])

/** Everything that happened to an incident once, the newest first: alerts that joined together are one entry. */
export function listEntries({ activities, messages }: Pick<Incident, 'activities' | 'messages'>): Entry[] {
  const entries: Entry[] = []
  let burst: Entry | undefined
  for (const activity of activities) {
    const isClose =
      burst !== undefined && millisecondsBetween(burst, activity) - burst.seconds * 1_000 < BURST_MS
    if (activity.actor_type !== 'system') burst = undefined
    else if (isClose && COVERED.has(activity.activity_type)) continue
    else if (JOINING.has(activity.activity_type)) {
      if (burst && isClose) extend(burst, activity)
      else entries.push((burst = entryOf(activity, messages)))
      continue
    }
    entries.push(entryOf(activity, messages))
  }
  const shown = new Set(entries.flatMap(entry => entry.messages.map(({ id }) => id)))
  return [...entries, ...groupMessages(messages.filter(({ id }) => !shown.has(id)))].sort(
    (a, b) => Date.parse(b.created_at) - Date.parse(a.created_at),
  )
}

const millisecondsBetween = (from: { created_at: string }, to: { created_at: string }) =>
  Date.parse(to.created_at) - Date.parse(from.created_at)

interface Joined {
  alerts?: { id: string; title: string }[]
  alert_count?: number
  delivery_id?: string
}

function entryOf(activity: IncidentActivity, messages: readonly Message[]): Entry {
  const {
    alerts = [],
    alert_count: count = 0,
    delivery_id: delivery,
    ...metadata
  } = activity.metadata as Joined
  const sent = messages.filter(({ id }) => id === delivery)
  return { ...activity, metadata, alerts: [...alerts], alertCount: count, seconds: 0, messages: sent }
}

function extend(entry: Entry, activity: IncidentActivity): void {
  const { alerts = [], alert_count: count = 0 } = activity.metadata as Joined
  entry.alerts.push(...alerts)
  entry.alertCount += count
  entry.seconds = millisecondsBetween(entry, activity) / 1_000
}

/** One entry for messages of one type that were sent at about the same time. */
function groupMessages(messages: readonly Message[]): Entry[] {
  const groups: Entry[] = []
  for (const message of messages) {
    const { id, event_type: type, created_at: at } = message
    const group = groups.find(
      each => each.activity_type === type && millisecondsBetween(each, message) < BURST_MS,
    )
    if (group) group.messages.push(message)
    else
      groups.push({
        ...{ id, activity_type: type, actor_type: 'system', actor_name: null, metadata: {}, created_at: at },
        ...{ alerts: [], alertCount: 0, seconds: 0, messages: [message] },
      })
  }
  return groups
}
