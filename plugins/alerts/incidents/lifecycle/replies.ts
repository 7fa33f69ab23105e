import Joi from 'joi'
import { held, inData, inNestedPage, pageFields, record, reply } from '../../../../server/http/envelopes.ts'
import { SEVERITIES, SYMPTOMS, type AlertKind } from '../../api.ts'
import { MEMBERSHIP_REASONS } from '../grouping/membership.ts'
import { alertReply } from '../../replies.ts'
import { assigneeReply } from '../../people/assignee.ts'
import { activityReply } from '../../people/timeline.ts'
import { ACTIVITY_TYPES, INCIDENT_STATUSES } from '../models.ts'

const { id, text, time, count, flag } = held
const INCIDENT_ID = '0197f5e2-9a00-7b4e-8c11-5d3e7f2a1b90'
const ALERT_ID = '0197f5e2-7c1b-7d3e-9a44-3f6f0a5b9c21'
const TABLE_ID = '0196f1c2-9d2e-7a10-b3c4-5d6e7f8091a2'

const list = (item: Joi.Schema) => Joi.array().items(item)
const status = Joi.string()
  .valid(...INCIDENT_STATUSES)
  .example('open')
const severity = Joi.string()
  .valid(...SEVERITIES)
  .label('Severity')
  .example('critical')
const minutes = Joi.number().min(0).allow(null)
const ratio = Joi.number().min(0).max(1)

const evidenceFields = {
  symptom: Joi.string()
    .valid(...SYMPTOMS)
    .description('What it shows.')
    .example('stale'),
  event_type: text.description('The kind of alert, or `failed_run`.').example('freshness_violation'),
  confidence: ratio.example(0.85),
  at: time,
  summary: text.description('One sentence.').example('orders: 3 h old, expected every 1 h'),
  asset_id: id.example(TABLE_ID),
  qualified_name: text.example('shop.shop.public.orders'),
  alert_id: id.allow(null).description('Null of a finding that no alert speaks of.').example(ALERT_ID),
}
const evidence = record(evidenceFields).label('IncidentEvidence')

const owner = record({
  asset_id: id.example(TABLE_ID),
  name: text.example('Sales data'),
  email: text.allow(null),
}).label('IncidentOwner')

function incidentFields(kinds: readonly AlertKind[]) {
  return {
    id: id.example(INCIDENT_ID),
    number: count.allow(null).description('By which people call it: `INC-12`.').example(12),
    status,
    severity: severity.description('The worst of its alerts.'),
    event_type: Joi.string()
      .valid(...kinds.map(({ name }) => name), 'failed_run')
      .description('What is named as the cause.')
      .example('freshness_violation'),
    title: text.description('The cause, in one sentence.').example('orders: 3 h old, expected every 1 h'),
    description: text
      .description('What belongs to it, in one sentence.')
      .example('4 alerts on 3 tables; the cause is shop.shop.public.orders'),
    root_cause: record({
      ...evidenceFields,
      severity,
      is_named: flag
        .description(
          'False of several changes of one discovery: then this is the worst of them, and causes none of the others.',
        )
        .example(true),
      explanation: text
        .allow(null)
        .description('How sure it is that this is the cause, and by what; null of old incidents.')
        .example(
          'The cause is orders: 85 %, as it failed first, lies upstream of both other failing tables and is late',
        ),
      evidence: list(evidence).description('What speaks for it, the strongest first, at most 10.'),
    }).label('IncidentCause'),
    alert_count: count.example(4),
    open_alert_count: count.description('Alerts that are neither resolved nor dismissed.').example(4),
    asset_count: count.description('Tables and sources with an alert.').example(3),
    owners: list(owner).description('Who owns the tables with an alert.'),
    downstream_count: count
      .description('Tables, dashboards and the like that are made from these.')
      .example(11),
    trigger_count: count.description('How often its alerts were seen.').example(9),
    reopened_count: count.description('How often it was over and went on.').example(0),
    assignee: assigneeReply.allow(null),
    post_mortem: text.allow(null).example(null),
    merged_into: id
      .allow(null)
      .description('The incident that has its alerts, as it turned out to be a part of it.')
      .example(null),
    started_at: time
      .allow(null)
      .description('When the problem began, where its evidence shows that; null elsewhere.')
      .example(null),
    first_detected_at: time.description('When it was opened.'),
    created_at: time.description('The same as `first_detected_at`.'),
    last_triggered_at: time.description('When one of its alerts was last seen.'),
    acknowledged_at: time.allow(null).example(null),
    snoozed_until: time.allow(null).example(null),
    resolved_at: time.allow(null).description('When it was resolved or dismissed.').example(null),
    minutes_to_detect: minutes.description('From `started_at` until it was opened.').example(null),
    minutes_to_acknowledge: minutes.example(null),
    minutes_to_resolve: minutes.example(null),
    context_data: Joi.object().unknown().description('The cause, for programs.').example({}),
    url: Joi.string()
      .uri()
      .description('A page for people.')
      .example(`https://tidemark.example.com/incidents/${INCIDENT_ID}`),
  }
}

const activity = activityReply(ACTIVITY_TYPES, 'IncidentActivity')

const alert = record({
  id: id.example(ALERT_ID),
  title: text,
  event_type: text.example('validity_failure'),
  severity,
  status: text.example('triggered'),
  asset_id: id.example(TABLE_ID),
  qualified_name: text.example('shop.shop.public.orders'),
  downstream_count: count
    .description('Tables, dashboards and the like that are made from its table.')
    .example(11),
  is_cause: flag.description('Whether it is named as the cause.'),
  reason: Joi.string()
    .valid(...MEMBERSHIP_REASONS)
    .allow(null)
    .description('Why it belongs to the incident; null of old incidents.')
    .example('downstream'),
  steps: count.allow(null).description('Steps of the flow of data from or to `relative_to`.').example(2),
  relative_to: text
    .allow(null)
    .description('The table that it belongs by.')
    .example('shop.shop.public.orders'),
  why: text.allow(null).description('The reason in words.').example('2 steps downstream of orders'),
  created_at: time,
  last_seen_at: time,
  resolved_at: time.allow(null),
}).label('IncidentAlert')

const run = record({
  job: text.example('load_orders'),
  namespace: text.example('airflow'),
  state: text.example('completed'),
  at: time,
  error_message: text.allow(null),
}).label('IncidentRun')

const message = record({
  id: id.example(ALERT_ID),
  destination_id: id.example(ALERT_ID),
  destination_name: text.example('On call'),
  event_type: text.example('alert.triggered'),
  status: text.example('delivered'),
  created_at: time,
}).label('IncidentMessage')

const numbers = record({ median: minutes, mean: minutes, count }).label('IncidentMinutes')

const summary = record({
  since: time,
  until: time,
  opened: count.description('Since then, without those that were merged.').example(7),
  ended: count.example(6),
  active: count.description('Open, acknowledged and snoozed now.').example(1),
  by_status: record(Object.fromEntries(INCIDENT_STATUSES.map(name => [name, count]))).description(
    'Those that are active now, or ended since then.',
  ),
  by_severity: record(Object.fromEntries(SEVERITIES.map(name => [name, count]))).description(
    'Those that were opened since then.',
  ),
  by_cause: record(Object.fromEntries(SYMPTOMS.map(name => [name, count]))).description(
    'Those that were opened since then.',
  ),
  alerts: count.description('Alerts in those that were opened since then.').example(31),
  minutes_to_detect: numbers,
  minutes_to_acknowledge: numbers,
  minutes_to_resolve: numbers,
}).label('IncidentSummary')

export function incidentReplies(kinds: readonly AlertKind[]) {
  const incident = record(incidentFields(kinds)).label('Incident')
  const detailed = record({
    ...incidentFields(kinds),
    cause_alert: alertReply(kinds)
      .allow(null)
      .description('The alert that is named as the cause; null of another finding.'),
    last_run: run
      .allow(null)
      .description('The run that wrote the table of the cause last before the incident was opened.'),
    alerts: list(alert).description('The first 200, oldest first.'),
    activities: list(activity).description('The newest 200, oldest first.'),
    messages: list(message).description('The newest 100 that were sent about it, oldest first.'),
  }).label('IncidentDetails')
  return {
    incidents: reply(inNestedPage(incident, 'incidents')),
    incident: reply(inData(detailed)),
    newIncident: reply(inData(detailed), 201),
    activity: reply(inData(activity), 201),
    activities: reply(
      inData(record({ activities: list(activity), pagination: record(pageFields) })).description(
        'A page of the timeline',
      ),
    ),
    summary: reply(inData(summary)),
  }
}
