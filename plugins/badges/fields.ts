import Joi from 'joi'
import { held, nullable } from '../../server/http/envelopes.ts'
import type { Fields } from '../../server/http/fields.ts'
import { STATUSES, type BadgeStatus } from './status.ts'

const MAX_FILTERS = 50

export const assetId = Joi.string()
  .max(1_000)
  .description('A source or a table, by its id or qualified name.')

/** Shown on other people's pages, so it must not be able to disturb their text. */
const label = Joi.string()
  .trim()
  .normalize('NFC')
  .min(1)
  .max(60)
  .pattern(/^[^\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffe\uffff]*$/u)
  .messages({
    'string.pattern.base':
      '{{#label}} must not hold control characters, such as line breaks or changes of direction',
  })
  .description('The text on the left of the badge; defaults to `data quality`.')

const tagFilters = Joi.array()
  .items(Joi.string().trim().normalize('NFC').min(1).max(100))
  .max(MAX_FILTERS)
  .unique()
  .description(
    'Only tables count that carry one of these tags, on themselves, a column or their source; empty means all.',
  )

/** A switch, which columns have a default for. */
const flag = (description: string) => Joi.boolean().strict().description(description)

/** What a badge is made of. */
export const badgeFields = {
  id: { reply: held.id, example: '019a2f3e-6a51-7c7e-9d0b-3f1c2b4a5d6e' },
  public_id: {
    reply: Joi.string().description('Part of the URL of the picture: a random UUID.'),
    example: '4f0c2d1e-8b7a-4c3d-9e5f-6a1b2c3d4e5f',
  },
  asset_id: {
    body: assetId,
    required: true,
    patch: true,
    reply: held.id,
    example: '6f1c2b4a-5d6e-4c7e-9d0b-3f1c2b4a5d6e',
  },
  label: { body: nullable(label), patch: true, reply: nullable(Joi.string()), example: 'orders' },
  tag_filters: { body: tagFilters, patch: true, reply: held.texts, example: [] },
  schema_drift_enabled: {
    body: flag('Whether an unacknowledged schema change makes the badge fail.'),
    patch: true,
    example: false,
  },
  freshness_enabled: {
    body: flag('Whether a stale table makes the badge fail.'),
    patch: true,
    example: true,
  },
  include_upstream: {
    body: flag(
      'Whether the tables that the table is made from count too, over any number of steps of its lineage; a source holds them already.',
    ),
    patch: true,
    example: false,
  },
  is_active: { body: flag('Whether it has a picture.'), patch: true, example: true },
  status: {
    computed: true,
    reply: Joi.any<BadgeStatus>()
      .valid(...STATUSES)
      .description('What the picture shows now.'),
    example: 'passing',
  },
  badge_url: {
    computed: true,
    reply: Joi.string().description('The public URL of the picture.'),
    example: 'http://127.0.0.1:8000/badges/4f0c2d1e-8b7a-4c3d-9e5f-6a1b2c3d4e5f.svg',
  },
  markdown: {
    computed: true,
    reply: Joi.string().description('Markdown that shows the picture.'),
    example: '![orders](http://127.0.0.1:8000/badges/4f0c2d1e-8b7a-4c3d-9e5f-6a1b2c3d4e5f.svg)',
  },
  created_at: { reply: held.time, example: '2030-01-15T09:30:00.000Z' },
  updated_at: { reply: held.time, example: '2030-01-15T09:30:00.000Z' },
} as const satisfies Fields
