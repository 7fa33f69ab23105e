import Joi from 'joi'
import {
  held,
  inData,
  inNestedPage,
  pageFields,
  record,
  removal,
  reply,
} from '../../../server/http/envelopes.ts'
import { EVENT_TYPES, SEVERITIES } from '../api.ts'
import { ALERT_TYPES } from './message.ts'
import { ALERT_STATUSES } from '../models.ts'

const { id, text, time, count, flag } = held
const object = Joi.object().unknown()
const eventType = Joi.string().valid(...EVENT_TYPES)
const severity = Joi.string().valid(...SEVERITIES)
const status = Joi.string().valid(...ALERT_STATUSES)
const list = (item: Joi.Schema) => Joi.array().items(item)
const each = (names: readonly string[], field: Joi.Schema) =>
  record(Object.fromEntries(names.map(name => [name, field])))

const ALERT_ID = '0197f5e2-7c1b-7d3e-9a44-3f6f0a5b9c21'
const TABLE_ID = '0196f1c2-9d2e-7a10-b3c4-5d6e7f8091a2'
const DESTINATION_ID = '0196f1c2-aa01-7b22-8c33-4d5e6f708192'

const assetFields = {
  id: text,
  qualified_name: text.example('shop.shop.public.orders'),
  asset_type: text
    .description('`source`, `table` and the like; `destination` of one that failed.')
    .example('table'),
}

const alertFields = {
  id: id.example(ALERT_ID),
  rule_name: text.description('The rule, metric or schedule that spoke.').example('Orders arrive every hour'),
  alert_type: Joi.string()
    .valid(...Object.values(ALERT_TYPES))
    .example('freshness'),
  event_type: eventType.example('freshness_violation'),
  severity: severity.example('critical'),
  status,
  title: text
    .description('One sentence for people.')
    .example('shop.shop.public.orders is 3 h old; expected within 1 h'),
  delivery_failed: flag
    .description('Whether a message about it reached none of its destinations.')
    .example(false),
  occurrences: count.description('How often it was seen; a repeat opens no second alert.').example(3),
  asset: record({ ...assetFields, id: text.example(TABLE_ID) }),
  event: record({
    type: eventType.example('freshness_violation'),
    change_type: Joi.string().allow(null).description("A schema change's type.").example(null),
    details: object
      .description('What there is to know of an event of this type.')
      .example({ table_path: 'shop.public.orders', sla_threshold: '1h', data_age_minutes: 183 }),
  }),
  context_data: object.description('What else the feature that raised it knows.').example({}),
  created_at: time,
  last_seen_at: time,
  snoozed_until: time.allow(null).example(null),
  resolved_at: time.allow(null).description('When it was resolved or dismissed.').example(null),
  links: record({
    alert_url: Joi.string().uri().example(`https://tidemark.example.com/api/v1/sdk/alerts/${ALERT_ID}`),
    asset_url: Joi.string().uri().example(`https://tidemark.example.com/api/v1/assets/${TABLE_ID}`),
  }),
}
const alert = record(alertFields)

const move = record({
  from_status: status.allow(null).description('Null of the first.').example('triggered'),
  to_status: status.example('acknowledged'),
  reason: text.allow(null).example('Looking into it'),
  snoozed_until: time.allow(null).description('Of a snooze, its end.'),
  actor: Joi.string().description('`system`, `user:<id>` or `key:<id>`.').example('system'),
  at: time,
})

const summary = record({
  total: count.example(12),
  open: count.description('Those that are not over.').example(3),
  by_status: each(ALERT_STATUSES, count),
  open_by_severity: each(SEVERITIES, count),
  delivery_failed: count.example(0),
})

const counted = { opened: count.example(4), resolved: count.example(3), dismissed: count.example(1) }
const minutes = Joi.number().min(0).allow(null).description('Null when there was none.').example(12.5)
const noise = { alerts: count.example(4), occurrences: count.example(9) }
const trends = record({
  since: time,
  until: time,
  timezone: Joi.string().example('Europe/Berlin'),
  ...counted,
  mean_minutes_to_acknowledge: minutes,
  mean_minutes_to_resolve: minutes,
  by_severity: each(SEVERITIES, record(counted)),
  by_event_type: each(
    EVENT_TYPES.filter(type => type !== 'discovery_complete'),
    record(counted),
  ),
  by_day: list(
    record({
      date: Joi.string()
        .pattern(/^\d{4}-\d\d-\d\d$/)
        .example('2026-03-14'),
      ...counted,
      opened_by_severity: each(SEVERITIES, count),
    }),
  ),
  noisiest_assets: list(record({ ...assetFields, ...noise })),
  noisiest_rules: list(
    record({ rule_name: text.example('Row count of orders'), event_type: eventType, ...noise }),
  ),
})

const rule = record({
  id,
  name: text.example('Whatever is critical'),
  description: text.allow(null).example(null),
  event_types: list(eventType).allow(null).description('Null lets all through.').example(null),
  severities: list(severity).allow(null).description('Null lets all through.').example(['critical']),
  asset_ids: list(id)
    .allow(null)
    .description('Tables, or sources with all their tables; null for all.')
    .example(null),
  tag_filter_mode: Joi.string().valid('any', 'all').allow(null).example(null),
  tag_filter_tags: list(Joi.string()).allow(null).example(null),
  destination_ids: list(id).example([DESTINATION_ID]),
  cooldown_minutes: count
    .description('For how long it sends one message of a cause; later ones are postponed.')
    .example(60),
  is_active: flag,
  created_at: time,
  updated_at: time,
})

const preview = record({
  since: time,
  until: time,
  matched: count.example(5),
  told: count.description('Sent at once.').example(3),
  postponed: count.description('Sent when the cooldown ended: the alert was still open.').example(1),
  held_back: count.description('Over before the cooldown ended: never sent.').example(1),
  messages: count
    .description('One for each alert that is sent and each destination that is switched on.')
    .example(4),
  destinations: list(
    record({
      id,
      name: text.example('On call'),
      destination_type: Joi.string().example('slack'),
      is_active: flag,
    }),
  ),
  alerts: list(record({ ...alertFields, outcome: Joi.string().valid('told', 'postponed', 'held_back') })),
  pagination: record(pageFields),
})

const deliveryStatus = Joi.string().valid('pending', 'delivered', 'failed', 'stopped')
const messageType = Joi.string().valid('alert.triggered', 'alert.resolved', 'alert.test')
const trigger = Joi.string().valid('automatic', 'manual', 'test')

const destinationFields = {
  id: id.example(DESTINATION_ID),
  name: text.example('On call'),
  destination_type: Joi.string().example('webhook'),
  is_active: flag,
  is_verified: flag.description('Whether it ever took a message.'),
  disabled_reason: text.allow(null).description('Why it was switched off by itself.').example(null),
  failing_since: time.allow(null).description('Since when each attempt has failed.').example(null),
  config: object
    .description('As its type takes it, placeholders in the places of secrets.')
    .example({ url: 'https://hooks.example.com/tidemark' }),
  created_at: time,
  updated_at: time,
  last_delivery: record({
    id,
    event_type: messageType,
    status: deliveryStatus.example('delivered'),
    created_at: time,
    completed_at: time.allow(null),
  }).allow(null),
  last_24_hours: record({ pending: count, delivered: count, failed: count, stopped: count }).description(
    'How many messages.',
  ),
}
const destination = record(destinationFields)
const signingSecret = Joi.string()
  .pattern(/^whsec_/)
  .description('Shown once. Deliveries are signed with it.')
  .example('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwPpqMRf4Wk3E=')

const endFields = {
  request_id: id.allow(null),
  started_at: time,
  ended_at: time,
  status_code: Joi.number().integer().allow(null).example(204),
  error_class: Joi.string()
    .allow(null)
    .description(
      '`egress_refused`, `dns`, `connect`, `tls`, `timeout`, `protocol`, `status`, `configuration`, `interrupted` (the process that made the attempt was lost), `other`.',
    )
    .example(null),
  error_message: text.allow(null).example(null),
  address: text.allow(null).description('What was dialled.').example('192.0.2.7'),
  tls_version: text.allow(null).example('TLSv1.3'),
  latency_ms: count.example(84),
  is_slow: flag
    .description('Whether it took longer than the 5 seconds that receivers should take.')
    .example(false),
  response_body: text.allow(null).description('How the answer begins.').example(''),
}
const attempt = record({ n: count.example(1), trigger, ...endFields })

const deliveryFields = {
  id,
  alert_id: id.allow(null).description('Null of a test.').example(ALERT_ID),
  destination_id: id.example(DESTINATION_ID),
  rule_ids: list(id),
  event_type: messageType,
  trigger,
  status: deliveryStatus.example('delivered'),
  attempt_count: count.example(1),
  next_attempt_at: time
    .allow(null)
    .description('When the next attempt is due; while a cooldown postpones the first one, when it ends.')
    .example(null),
  stopped_reason: text.allow(null).example(null),
  created_at: time,
  completed_at: time.allow(null),
  attempts: list(attempt),
}
const listedDelivery = record({
  ...deliveryFields,
  destination_name: text.example('On call'),
  destination_type: Joi.string().example('webhook'),
})

/** What each route answers. */
export const replies = {
  alerts: reply(inNestedPage(alert)),
  inbox: reply(inNestedPage(alert, 'alerts')),
  alert: reply(inData(alert)),
  summary: reply(inData(summary)),
  trends: reply(inData(trends)),
  moves: reply(inNestedPage(move)),
  rules: reply(inNestedPage(rule)),
  rule: reply(inData(rule)),
  newRule: reply(inData(rule), 201),
  ruleRemoved: reply(removal('The alert rule was deleted')),
  preview: reply(inData(preview)),
  destinations: reply(inNestedPage(destination, 'destinations')),
  destination: reply(inData(destination)),
  newDestination: reply(inData(record({ ...destinationFields, signing_secret: signingSecret })), 201),
  destinationRemoved: reply(
    inData(
      record({
        success: Joi.valid(true),
        message: Joi.string().example('The destination was deleted'),
        rules_switched_off: Joi.array()
          .items(record({ id: held.id, name: text.example('Money to finance') }))
          .description('Alert rules that sent to no other destination.'),
      }),
    ),
  ),
  tested: reply(
    inData(
      record({ success: flag.description('Whether the receiver took it.'), delivery_id: id, ...endFields }),
    ),
  ),
  rotated: reply(
    inData(
      record({
        id: id.example(DESTINATION_ID),
        signing_secret: signingSecret,
        previous_valid_until: time.description('Until when the old secret signs too.'),
      }),
    ),
  ),
  deliveries: reply(inNestedPage(listedDelivery)),
  redelivered: reply(inData(record(deliveryFields)), 202),
}
