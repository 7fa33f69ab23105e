import Joi from 'joi'
import { held } from '../../server/http/envelopes.ts'
import type { Fields } from '../../server/http/fields.ts'

export const assetId = Joi.string().max(1_000).description('A table, by its id or qualified name.')
export const checkId = Joi.string()
  .max(100)
  .description(
    'The id of a rule, a metric, a referential check or a comparison, as `GET /api/v1/sdk/checks/{asset_id}` has it.',
  )

/** What a link to a chart is made of. */
export const linkFields = {
  id: { reply: held.id, example: '019a2f3e-6a51-7c7e-9d0b-3f1c2b4a5d6e' },
  asset_id: {
    column: 'tableId',
    body: assetId,
    required: true,
    reply: held.id.description('The table.'),
    example: '6f1c2b4a-5d6e-4c7e-9d0b-3f1c2b4a5d6e',
  },
  check_id: {
    body: checkId,
    required: true,
    reply: Joi.string(),
    example: 'm_0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d',
  },
  days: {
    body: Joi.number().strict().integer().min(1).max(90).description('How many days the chart goes back.'),
    default: 30,
    reply: held.count,
    example: 30,
  },
  created_at: { reply: held.time, example: '2030-01-15T09:30:00.000Z' },
  expires_at: { reply: held.time, example: '2030-01-22T09:30:00.000Z' },
} as const satisfies Fields
