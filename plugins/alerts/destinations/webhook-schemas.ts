import Joi from 'joi'
import { held, record } from '../../../server/http/envelopes.ts'
import { asComponent } from '../../../server/openapi/components.ts'
import { jsonSchema } from '../../../server/openapi/json-schema.ts'
import { SEVERITIES } from '../api.ts'
import { ALERT_STATUSES } from '../models.ts'
import { assigneeReply } from '../people/assignee.ts'
import type { MessageType } from './payload.ts'

const ALERT_ID = '0197f5e2-7c1b-7d3e-9a44-3f6f0a5b9c21'

const payload = record({
  event_type: Joi.string().valid('alert.triggered', 'alert.resolved', 'alert.test'),
  alert: record({
    id: held.id.description('The same in all messages about an alert: receivers deduplicate by it.'),
    rule_name: held.text.description('The name of the rule, metric or schedule that raised it.'),
    alert_type: held.text.description('`schema`, `freshness`, `validity` and the like; `test` of a test.'),
    status: Joi.string().valid(...ALERT_STATUSES),
    severity: Joi.string()
      .valid(...SEVERITIES)
      .label('Severity'),
    title: held.text.description('One sentence for people.'),
    created_at: held.time,
    reason: held.text.optional().description('Why it is over, or why `alert.triggered` is sent again.'),
    superseded_by: held.id.optional().description('The alert that replaced this one because it got worse.'),
    reminded_at: held.time.optional().description('When it was sent again, since its snooze had ended.'),
    assignee: assigneeReply.optional().description('The user who takes care of it, if it is assigned.'),
  }),
  event: record({
    type: held.text.description('The event type, by which rules select. Ignore those that you do not know.'),
    change_type: held.text.optional().description('The type of a schema change.'),
    asset: record({ qualified_name: held.text, asset_type: held.text }),
    details: Joi.object()
      .unknown()
      .meta({ openapi: { 'x-choices': 'alert_details' } })
      .description('Fields that depend on `type`. Default those that are missing.'),
  }),
  links: record({ alert_url: Joi.string().uri(), asset_url: Joi.string().uri() }),
})
  .label('WebhookPayload')
  .example({
    event_type: 'alert.triggered',
    alert: {
      id: ALERT_ID,
      rule_name: 'Schema drift',
      alert_type: 'schema',
      status: 'triggered',
      severity: 'critical',
      title: 'orders: column status removed',
      created_at: '2026-03-14T09:26:53.000Z',
    },
    event: {
      type: 'schema_change',
      change_type: 'column_removed',
      asset: { qualified_name: 'shop.shop.public.orders', asset_type: 'table' },
      details: {
        table_path: 'shop.public.orders',
        column_name: 'status',
        column_type: 'text',
        change_count: 1,
      },
    },
    links: {
      alert_url: `https://tidemark.example.com/alerts/${ALERT_ID}`,
      asset_url: 'https://tidemark.example.com/tables/0196f1c2-9d2e-7a10-b3c4-5d6e7f8091a2',
    },
  })

/** The headers of every delivery; `signature.ts` and `webhook.ts` send them. */
const HEADERS: Record<string, [description: string, example: string]> = {
  'X-Service-Signature': [
    '`sha256=` and the HMAC-SHA256 of the raw body in hex, keyed with the whole signing secret. Compare it in constant time.',
    `sha256=${'0'.repeat(64)}`,
  ],
  'webhook-id': ['The id of the alert, as Standard Webhooks names it.', ALERT_ID],
  'webhook-timestamp': [
    'When it was sent, in epoch seconds. Refuse old ones, to prevent replays.',
    '1773480413',
  ],
  'webhook-signature': [
    '`v1,` and the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` in base64, keyed with the decoded secret; while a secret is rotated two, separated by a space.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ],
  'X-Service-Delivery': [
    'The id of the delivery, the same for each attempt.',
    '0197f5e2-8a10-7c55-b1d2-2f6f3f1c7a10',
  ],
  'X-Service-Attempt': ['The number of the attempt, from 1 to 5.', '1'],
}

const SUMMARIES: Record<MessageType, [summary: string, description: string]> = {
  'alert.triggered': [
    'An alert was opened',
    'Also sent with the same id when a snooze has ended and the problem goes on; `alert.reminded_at` is present then.',
  ],
  'alert.resolved': ['An alert is over', 'Resolved, dismissed, or replaced by one that is worse.'],
  'alert.test': [
    'A test of the destination',
    'Sent by `POST /api/v1/sdk/alerts/destinations/{id}/test` only.',
  ],
}

/** The webhooks of the API, for its description. */
export function describeWebhooks(): Record<string, object> {
  const parameters = Object.entries(HEADERS).map(([name, [description, example]]) =>
    asComponent(
      'parameters',
      name.replaceAll(/(^|-)(\w)/g, (_, _dash, letter: string) => letter.toUpperCase()),
      {
        name,
        in: 'header',
        required: true,
        description,
        schema: { type: 'string' },
        example,
      },
    ),
  )
  const schema = jsonSchema(payload, 'output')
  const entries = Object.entries(SUMMARIES).map(([name, [summary, description]]) => {
    const post = {
      operationId: `receive${name.replaceAll(/(^|\.)(\w)/g, (_, _dot, letter: string) => letter.toUpperCase())}`,
      summary,
      description,
      tags: ['destinations'],
      security: [],
      parameters,
      requestBody: { required: true, content: { 'application/json': { schema } } },
      responses: {
        '2XX': { description: 'Accepted. Answer within 5 seconds' },
        default: { description: 'Refused: sent again after 1, 5, 15 and 60 minutes, five times in all' },
      },
    }
    return [name, { post }]
  })
  return Object.fromEntries(entries) as Record<string, object>
}
