import Joi from 'joi'
import { held, inData, inNestedPage, record, reply } from '../../../server/http/envelopes.ts'
import { MESSAGE_CHOICES } from '../models.ts'
import { ALERT_ID_EXAMPLE } from '../replies.ts'
import { EVENT_TYPES } from './payload.ts'

const { id, text, time, count, flag } = held
const object = Joi.object().unknown()
const list = (item: Joi.Schema) => Joi.array().items(item)

export const DESTINATION_ID_EXAMPLE = '0196f1c2-aa01-7b22-8c33-4d5e6f708192'

const deliveryStatus = Joi.string().valid('pending', 'delivered', 'failed', 'stopped')
const messageType = Joi.string().valid(...EVENT_TYPES)
const trigger = Joi.string().valid('automatic', 'manual', 'test')

const destinationFields = {
  id: id.example(DESTINATION_ID_EXAMPLE),
  name: text.example('On call'),
  destination_type: Joi.string().example('webhook'),
  messages: Joi.string()
    .valid(...MESSAGE_CHOICES)
    .description('Whether it gets a message about each alert, or about each incident.')
    .example('alerts'),
  is_active: flag,
  is_verified: flag.description('Whether it has ever accepted a message.'),
  disabled_reason: text.allow(null).description('Why it was switched off automatically.').example(null),
  failing_since: time.allow(null).description('Since when every attempt has failed.').example(null),
  config: object
    .description('As its type defines it, with placeholders instead of secrets.')
    .example({ url: 'https://hooks.example.com/tidemark' }),
  created_at: time,
  updated_at: time,
  last_delivery: record({
    id,
    event_type: messageType,
    status: deliveryStatus.example('delivered'),
    created_at: time,
    completed_at: time.allow(null),
  })
    .label('LastDelivery')
    .allow(null),
  last_24_hours: record({ pending: count, delivered: count, failed: count, stopped: count })
    .label('DeliveryCounts')
    .description('The number of messages.'),
}
const destination = record(destinationFields).label('Destination')
const signingSecret = Joi.string()
  .pattern(/^whsec_/)
  .description('Shown once. Deliveries are signed with it.')
  .example('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwPpqMRf4Wk3E=')

const newDestination = record({
  ...destinationFields,
  signing_secret: signingSecret.allow(null).description('Shown once; null of a type that signs nothing.'),
}).label('NewDestination')

const outcomeFields = {
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
  address: text.allow(null).description('The address that was dialled.').example('192.0.2.7'),
  tls_version: text.allow(null).example('TLSv1.3'),
  latency_ms: count.example(84),
  is_slow: flag
    .description('Whether it took longer than the 5 seconds that receivers should take.')
    .example(false),
  response_body: text.allow(null).description('The beginning of the answer.').example(''),
}

const deliveryFields = {
  id,
  alert_id: id.allow(null).description('Null for a test.').example(ALERT_ID_EXAMPLE),
  incident_id: id
    .allow(null)
    .description('The incident that the message is about, if it is about one.')
    .example(null),
  destination_id: id.example(DESTINATION_ID_EXAMPLE),
  rule_ids: list(id),
  event_type: messageType,
  trigger,
  status: deliveryStatus.example('delivered'),
  attempt_count: count.example(1),
  next_attempt_at: time
    .allow(null)
    .description('When the next attempt is due; for a postponed message, when the cooldown ends.')
    .example(null),
  stopped_reason: text.allow(null).example(null),
  created_at: time,
  completed_at: time.allow(null),
  attempts: list(record({ n: count.example(1), trigger, ...outcomeFields }).label('DeliveryAttempt')),
}
const listedDelivery = record({
  ...deliveryFields,
  destination_name: text.example('On call'),
  destination_type: Joi.string().example('webhook'),
  subject_title: text
    .allow(null)
    .description('The title of the incident or alert that the message is about; null of others.')
    .example('orders: 3 h old, expected every 1 h'),
}).label('Delivery')

export const replies = {
  destinations: reply(inNestedPage(destination, 'destinations')),
  destination: reply(inData(destination)),
  newDestination: reply(inData(newDestination).description('The destination, with its signing secret'), 201),
  newDestinations: reply(
    inData(record({ destinations: list(newDestination) })).description(
      'The destinations, each with its signing secret',
    ),
    201,
  ),
  ruleDestinations: reply(
    inData(record({ destinations: list(destination) })).description('The destinations of the rule'),
  ),
  destinationRemoved: reply(
    inData(
      record({
        success: Joi.valid(true),
        message: Joi.string().example('The destination was deleted'),
        rules_switched_off: list(record({ id: held.id, name: text.example('Money to finance') })).description(
          'Alert rules that had no other destination.',
        ),
      }).label('DestinationRemoval'),
    ).description('That it was deleted, and the rules that were switched off'),
  ),
  tested: reply(
    inData(
      record({
        success: flag.description('Whether the receiver accepted the message.'),
        test_sent: flag.description('The same as `success`.'),
        destination_id: id.example(DESTINATION_ID_EXAMPLE),
        delivery_id: id,
        message: text
          .allow(null)
          .description('One sentence for people.')
          .example('The destination accepted the test message'),
        ...outcomeFields,
      }).label('DestinationTest'),
    ).description('What came of the test; a refused message is 200 with `success` false'),
  ),
  rotated: reply(
    inData(
      record({
        id: id.example(DESTINATION_ID_EXAMPLE),
        signing_secret: signingSecret,
        previous_valid_until: time.description('Until when the old secret signs too.'),
      }).label('RotatedSecret'),
    ).description('The new secret, and how long the old one is valid'),
  ),
  deliveries: reply(inNestedPage(listedDelivery)),
  redelivered: reply(inData(record(deliveryFields).label('QueuedDelivery')), 202),
}
