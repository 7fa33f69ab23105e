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
import { SEVERITIES, type AlertKind } from '../api.ts'
import { DESTINATION_ID_EXAMPLE } from '../destinations/replies.ts'
import { alertFields } from '../lifecycle/replies.ts'

const { id, text, time, count, flag } = held
const list = (item: Joi.Schema) => Joi.array().items(item)

/** The replies of the routes of alert rules. */
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
    destination_ids: list(id).example([DESTINATION_ID_EXAMPLE]),
    cooldown_minutes: count
      .description('Within this time it sends one message per cause; later ones are postponed.')
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
    messages: count.description('One per sent alert and active destination.').example(4),
    destinations: list(
      record({
        id,
        name: text.example('On call'),
        destination_type: Joi.string().example('slack'),
        is_active: flag,
      }),
    ),
    alerts: list(
      record({ ...alertFields(kinds), outcome: Joi.string().valid('told', 'postponed', 'held_back') }),
    ),
    pagination: record(pageFields),
  })
  return {
    rules: reply(inNestedPage(rule)),
    rule: reply(inData(rule)),
    newRule: reply(inData(rule), 201),
    ruleRemoved: reply(removal('The alert rule was deleted')),
    preview: reply(inData(preview)),
  }
}
