import Joi from 'joi'
import { held, inData, inPage, pageFields, record, removal, reply } from '../../../server/http/envelopes.ts'
import { SEVERITIES, type AlertKind } from '../api.ts'
import { DESTINATION_ID_EXAMPLE, replies as destinationReplies } from '../destinations/replies.ts'
import { alertFields } from '../replies.ts'

const { id, text, time, count, flag } = held
const list = (item: Joi.Schema) => Joi.array().items(item)

export function ruleReplies(kinds: readonly AlertKind[]) {
  const rule = record({
    id,
    name: text.example('All critical alerts'),
    description: text.allow(null).example(null),
    event_types: list(Joi.string().valid(...kinds.map(({ name }) => name)))
      .allow(null)
      .description('Null for all.')
      .example(null),
    severities: list(Joi.string().valid(...SEVERITIES))
      .allow(null)
      .description('Null for all.')
      .example(['critical']),
    asset_ids: list(id)
      .allow(null)
      .description('Tables, or sources with all their tables; null for all.')
      .example(null),
    tag_filter_mode: Joi.string().valid('any', 'all').allow(null).example(null),
    tag_filter_tags: list(Joi.string()).allow(null).example(null),
    owners: list(Joi.string())
      .allow(null)
      .description('Ids of users and teams, and addresses, of which any owns the asset; null for all.')
      .example(null),
    destination_ids: list(id).example([DESTINATION_ID_EXAMPLE]),
    cooldown_minutes: count
      .description('Within this time it sends one message per cause; later ones are postponed.')
      .example(60),
    escalation: list(
      record({
        after_minutes: count.example(30),
        destination_ids: list(id).example([DESTINATION_ID_EXAMPLE]),
      }),
    )
      .allow(null)
      .description('Who is notified next while no person has taken the alert; null for none.'),
    is_active: flag,
    enabled: flag.description('The same as `is_active`.'),
    rule_type: text.description('Its event type; `all` or `several` if it has not one.').example('all'),
    severity: Joi.string()
      .valid(...SEVERITIES)
      .description('The least severity that it selects.')
      .example('critical'),
    is_notify_code_authors: Joi.valid(false).description('Authors of code are not known here.'),
    code_author_min_confidence: Joi.number().min(0).max(1).allow(null).example(null),
    created_at: time,
    updated_at: time,
  }).label('AlertRule')
  const eventType = record(
    {
      event_type: Joi.string().valid(...kinds.map(({ name }) => name)),
      alert_type: text,
      label: text.description('What people call it.'),
    },
    { event_type: 'freshness_violation', alert_type: 'freshness', label: 'stale table' },
  )
    .description('What rules select by, also of extensions.')
    .label('AlertEventType')
  const counts = (words: readonly string[]) =>
    Joi.object(Object.fromEntries(words.map(word => [word, count]))).description('Without zeros.')
  const preview = record({
    since: time,
    until: time,
    matched: count.example(5),
    told: count.description('Sent at once.').example(3),
    postponed: count.description('Sent when the cooldown ended: the alert was still open.').example(1),
    held_back: count.description('Over before the cooldown ended: never sent.').example(1),
    messages: count.description('One per sent alert and active destination.').example(4),
    destinations: list(
      record({
        id,
        name: text.example('On call'),
        destination_type: Joi.string().example('slack'),
        is_active: flag,
        messages: count.description('How many it would have received; 0 for an inactive one.').example(4),
      }).label('PreviewedDestination'),
    ),
    alerts: list(
      record({ ...alertFields(kinds), outcome: Joi.string().valid('told', 'postponed', 'held_back') }).label(
        'PreviewedAlert',
      ),
    ),
    pagination: record(pageFields).label('Pagination'),
    lookback_hours: count.example(168),
    alerts_would_match: count.description('The same as `matched`.').example(5),
    alerts_by_type: counts(kinds.map(({ name }) => name)).example({ validity_failure: 5 }),
    alerts_by_severity: counts(SEVERITIES).example({ critical: 5 }),
    sample_alerts: list(
      record({
        id,
        message: text.example('orders: 3 h old, expected every 1 h'),
        severity: Joi.string().valid(...SEVERITIES),
        triggered_at: time,
        asset_name: text.example('shop.shop.public.orders'),
      }),
    ).description('Those of `alerts`, in short.'),
    recommendation: text
      .description('One sentence for people.')
      .example('4 of 5 alerts would have been sent, 0.57 a day'),
  }).label('AlertPreview')
  return {
    rules: reply(inData(inPage(rule, 'data', { event_types: list(eventType) }))),
    rule: reply(inData(rule)),
    newRule: reply(inData(rule), 201),
    ruleRemoved: reply(removal('The alert rule was deleted')),
    preview: reply(inData(preview)),
    destinations: destinationReplies.ruleDestinations,
    linked: reply(
      inData(
        record({ rule_id: id, linked_count: count.description('How many were added.').example(1) }).label(
          'AddedDestinations',
        ),
      ).description('How many destinations were added'),
    ),
    unlinked: reply(removal('The destination was removed from the alert rule')),
  }
}
