import Joi from 'joi'
import { held, inData, inNestedPage, pageFields, record, reply } from '../../server/http/envelopes.ts'
import { RESOLUTION_FIELDS, SEVERITIES, type AlertKind } from './api.ts'
import { contextFields } from './context/replies.ts'
import { ALERT_STATUSES, type AlertStatus } from './models.ts'
import { ALERT_ACTIVITY_TYPES } from './people/alert-timeline.ts'
import { assigneeReply } from './people/assignee.ts'
import { activityReply } from './people/timeline.ts'

/** Statuses by their names in the inbox. */
export const ALERT_STATES: ReadonlyMap<string, AlertStatus> = new Map(
  ALERT_STATUSES.map(status => [status === 'triggered' ? 'new' : status, status] as const),
)

const { id, text, time, count, flag } = held
const object = Joi.object().unknown()
const status = Joi.string().valid(...ALERT_STATUSES)
const severity = Joi.string()
  .valid(...SEVERITIES)
  .label('Severity')
const list = (item: Joi.Schema) => Joi.array().items(item)
const recordOf = (names: readonly string[], field: Joi.Schema) =>
  record(Object.fromEntries(names.map(name => [name, field])))

export const ALERT_ID_EXAMPLE = '0197f5e2-7c1b-7d3e-9a44-3f6f0a5b9c21'
const page = Joi.string().uri().description('A page for people; redirects programs to the API.')
const TABLE_ID_EXAMPLE = '0196f1c2-9d2e-7a10-b3c4-5d6e7f8091a2'

const asset = {
  id: text,
  qualified_name: text.example('shop.shop.public.orders'),
  asset_type: text.description('`source`, `table` and the like, or `destination`.').example('table'),
}

const resolution = Object.fromEntries(
  RESOLUTION_FIELDS.map(field => [
    field,
    text.allow(null).description('As stated by who ended the alert.').example(null),
  ]),
)
const notes = text.allow(null).description('The newest reason that a person gave.').example(null)

export function alertFields(kinds: readonly AlertKind[]) {
  const eventType = Joi.string()
    .valid(...kinds.map(({ name }) => name))
    .example('freshness_violation')
  return {
    id: id.example(ALERT_ID_EXAMPLE),
    rule_id: text
      .allow(null)
      .description('The id of the rule, metric, check or schedule that raised it; null if none did.')
      .example('v_0196f1c2-bb02-7c33-9d44-5e6f70819203'),
    rule_name: text
      .description('The rule, metric or schedule that raised it.')
      .example('Orders arrive every hour'),
    alert_type: Joi.string()
      .valid(...kinds.map(({ label }) => label))
      .example('freshness'),
    event_type: eventType,
    severity: severity.example('critical'),
    status,
    title: text.description('One sentence for people.').example('orders: 3 h old, expected every 1 h'),
    message: text.description('The same as `title`.').example('orders: 3 h old, expected every 1 h'),
    delivery_failed: flag
      .description('Whether a message about it reached none of its destinations.')
      .example(false),
    occurrences: count.description('How often it was seen; a repeat opens no second alert.').example(3),
    asset_id: asset.id.example(TABLE_ID_EXAMPLE),
    qualified_name: asset.qualified_name,
    asset: record({ ...asset, id: text.example(TABLE_ID_EXAMPLE) }).label('AlertAsset'),
    finding: record({ found: text, expected: text.allow(null), deviation: text.allow(null) })
      .allow(null)
      .description('The parts of its title, in words.')
      .example({ found: '3 h old', expected: 'every 1 h', deviation: null }),
    event: record({
      type: eventType,
      change_type: Joi.string().allow(null),
      details: object,
    })
      .label('AlertEvent')
      .meta({ openapi: { 'x-choices': 'alert_event', 'x-choices-by': 'type' } })
      .example({
        type: 'freshness_violation',
        change_type: null,
        details: { table_path: 'shop.public.orders', sla_threshold: '1h', data_age_minutes: 183 },
      }),
    context_data: object.description('Other data of the feature that raised it.').example({}),
    created_at: time,
    triggered_at: time.description('The same as `created_at`.'),
    last_seen_at: time,
    snoozed_until: time.allow(null).example(null),
    muted_until: time
      .allow(null)
      .description('Until when mute windows hold back messages about it.')
      .example(null),
    resolved_at: time.allow(null).description('When it was resolved or dismissed.').example(null),
    assignee: assigneeReply.allow(null).description('Who takes care of it.'),
    notes,
    ...resolution,
    links: record({
      alert_url: page.example(`https://tidemark.example.com/alerts/${ALERT_ID_EXAMPLE}`),
      asset_url: page.example(`https://tidemark.example.com/tables/${TABLE_ID_EXAMPLE}`),
    }).label('AlertLinks'),
  }
}

const inboxFields = {
  alert_state: Joi.string()
    .valid(...ALERT_STATES.keys())
    .description('Its status, which is `new` while it is `triggered`.')
    .example('new'),
  asset_name: asset.qualified_name,
  destination_name: text
    .allow(null)
    .description('The destinations that a message about it is for, separated by commas; null if none.')
    .example('On call'),
  acknowledged_at: time.allow(null).description('When it was last acknowledged.').example(null),
  dismissed_at: time.allow(null).example(null),
}

const action = record({
  action: status.description('The status that it got.').example('acknowledged'),
  timestamp: time,
  user_id: text.allow(null).description('Null if a key or the program did it.').example(null),
  notes: text.allow(null).description('The reason.').example('Looking into it'),
  ...resolution,
}).label('AlertAction')

const transition = record({
  from_status: status.allow(null).description('Null when it was opened.').example('triggered'),
  to_status: status.example('acknowledged'),
  reason: text.allow(null).example('Looking into it'),
  snoozed_until: time.allow(null).description('The end of a snooze.'),
  actor: Joi.string().description('`system`, `user:<id>` or `key:<id>`.').example('system'),
  at: time,
  ...resolution,
}).label('AlertTransition')

const activity = activityReply(ALERT_ACTIVITY_TYPES, 'AlertActivity')

const bySeverity = recordOf(SEVERITIES, count).label('SeverityCounts')

const summary = record({
  total: count.example(12),
  open: count.description('Neither resolved nor dismissed.').example(3),
  by_status: recordOf(ALERT_STATUSES, count),
  open_by_severity: bySeverity,
  delivery_failed: count.example(0),
  unresolved_alerts: count.description('The same as `open`.').example(3),
  recent_alerts: count.description('Opened within the last 24 hours.').example(1),
  total_rules: count.description('Alert rules.').example(2),
  active_rules: count.example(2),
}).label('AlertSummary')

const counts = { opened: count.example(4), resolved: count.example(3), dismissed: count.example(1) }
const minutes = Joi.number().min(0).allow(null).description('Null if there was none.').example(12.5)
const movements = record(counts).label('AlertCounts')
const point = { ...counts, opened_by_severity: bySeverity }
const noise = { alerts: count.example(4), occurrences: count.example(9) }

function trendsRecord(kinds: readonly AlertKind[]) {
  const names = kinds.map(({ name }) => name)
  const counted = kinds.filter(({ isRoutine }) => !isRoutine).map(({ name }) => name)
  return record({
    period: Joi.string().description('As asked, or the number of days.').example('30d'),
    trends: list(record({ timestamp: time, ...point })).description(
      'One entry per day, for `24h` per hour, with its first moment.',
    ),
    since: time,
    until: time,
    timezone: Joi.string().example('Europe/Berlin'),
    ...counts,
    mean_minutes_to_acknowledge: minutes,
    mean_minutes_to_resolve: minutes,
    by_severity: recordOf(SEVERITIES, movements),
    by_event_type: recordOf(counted, movements),
    by_day: list(
      record({
        date: Joi.string()
          .pattern(/^\d{4}-\d\d-\d\d$/)
          .example('2026-03-14'),
        ...point,
      }),
    ),
    noisiest_assets: list(record({ ...asset, ...noise })),
    noisiest_rules: list(
      record({
        rule_name: text.example('Row count of orders'),
        event_type: Joi.string().valid(...names),
        ...noise,
      }),
    ),
  }).label('AlertTrends')
}

/** An alert as lists and incidents show it. */
export const alertReply = (kinds: readonly AlertKind[]) => record(alertFields(kinds)).label('Alert')

export function alertReplies(kinds: readonly AlertKind[]) {
  const alert = alertReply(kinds)
  return {
    alerts: reply(inNestedPage(alert)),
    inbox: reply(
      inNestedPage(
        record({ ...alertFields(kinds), ...inboxFields }).label('InboxAlert'),
        'alerts',
      ).description('A page of alerts with the names for a list'),
    ),
    alert: reply(inData(alert)),
    alertInContext: reply(
      inData(record({ ...alertFields(kinds), ...contextFields(activity) }).label('AlertInContext')),
    ),
    activity: reply(inData(activity), 201),
    activities: reply(
      inData(record({ activities: list(activity), pagination: record(pageFields) })).description(
        'A page of the timeline',
      ),
    ),
    summary: reply(inData(summary)),
    trends: reply(inData(trendsRecord(kinds))),
    transitions: reply(
      inData(
        record({
          data: list(transition),
          history: list(action).description('The same transitions as actions.'),
          pagination: record(pageFields),
        }).label('AlertHistory'),
      ).description('A page of transitions'),
    ),
  }
}
