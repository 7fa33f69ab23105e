import Joi from 'joi'
import { exampleRecord, held, inData, inNestedPage, removal } from '../../server/http/envelopes.ts'
import { pageQuery, queryBoolean } from '../../server/http/page.ts'
import { STATUSES } from './status.ts'

const MAX_FILTERS = 50

const assetId = Joi.string().max(1_000).description('A source or a table, by its id or qualified name.')

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
  .allow(null)
  .description('The text on the left of the badge; defaults to `data quality`.')

const tagFilters = Joi.array()
  .items(Joi.string().trim().normalize('NFC').min(1).max(100))
  .max(MAX_FILTERS)
  .unique()
  .description(
    'Only tables count that carry one of these tags, on themselves, a column or their source; empty means all.',
  )

const schemaDriftEnabled = Joi.boolean()
  .strict()
  .description('Whether an unacknowledged schema change makes the badge fail.')
const freshnessEnabled = Joi.boolean().strict().description('Whether a stale table makes the badge fail.')

const includeUpstream = Joi.boolean()
  .strict()
  .description(
    'Whether the tables that the table is made from count too, over any number of steps of its lineage; a source holds them already.',
  )
const isActive = Joi.boolean().strict().description('Whether it has a picture.')

const fields = {
  label,
  tag_filters: tagFilters,
  schema_drift_enabled: schemaDriftEnabled,
  freshness_enabled: freshnessEnabled,
  include_upstream: includeUpstream,
  is_active: isActive,
}

export const newBadge = Joi.object({ asset_id: assetId.required(), ...fields })
  .required()
  .example({ asset_id: 'shop.main.main.orders', label: 'orders', freshness_enabled: true })
  .label('CreateBadgeRequest')

export const badgeChange = Joi.object({ asset_id: assetId, ...fields })
  .required()
  .example({ label: 'orders, fresh and valid', schema_drift_enabled: true })
  .label('UpdateBadgeRequest')

export const badgeParams = Joi.object({ id: Joi.string().required().description('The id of a badge.') })

export const badgeList = Joi.object({
  ...pageQuery(),
  asset_id: assetId,
  active_only: queryBoolean.default(false).description('Leaves out inactive badges.'),
})

/** A UUID; or 16 bytes in base64url from former versions, since pages that show such a badge must keep working. */
const PUBLIC_ID = /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[A-Za-z0-9_-]{22})$/

export const pictureParams = Joi.object({
  public_id: Joi.string()
    .pattern(PUBLIC_ID)
    .required()
    .messages({ 'string.pattern.base': '{{#label}} must be a UUID' })
    .description('The public id of a badge.')
    .meta({ openapi: { type: 'string', format: 'uuid', pattern: undefined } }),
})

const badgeId = held.id.example('019a2f3e-6a51-7c7e-9d0b-3f1c2b4a5d6e')

const shownFields = {
  status: Joi.valid(...STATUSES)
    .description('What the picture shows now.')
    .example('passing'),
  badge_url: Joi.string()
    .description('The public URL of the picture.')
    .example('http://127.0.0.1:8000/badges/4f0c2d1e-8b7a-4c3d-9e5f-6a1b2c3d4e5f.svg'),
}

const badge = exampleRecord({
  id: badgeId,
  public_id: Joi.string()
    .description('Part of the URL of the picture: a random UUID.')
    .example('4f0c2d1e-8b7a-4c3d-9e5f-6a1b2c3d4e5f'),
  asset_id: held.id.example('6f1c2b4a-5d6e-4c7e-9d0b-3f1c2b4a5d6e'),
  label: Joi.string().allow(null).example('orders'),
  tag_filters: held.texts.example([]),
  schema_drift_enabled: held.flag.example(false),
  freshness_enabled: held.flag.example(true),
  include_upstream: held.flag.example(false),
  is_active: held.flag.description('Whether it has a picture.').example(true),
  ...shownFields,
  markdown: Joi.string()
    .description('Markdown that shows the picture.')
    .example('![orders](http://127.0.0.1:8000/badges/4f0c2d1e-8b7a-4c3d-9e5f-6a1b2c3d4e5f.svg)'),
  created_at: held.time.example('2030-01-15T09:30:00.000Z'),
  updated_at: held.time.example('2030-01-15T09:30:00.000Z'),
}).label('Badge')

export const replies = {
  badge: inData(badge),
  status: inData(exampleRecord({ badge_id: badgeId, ...shownFields }).label('BadgeState')),
  badges: inNestedPage(badge, 'badges'),
  removed: removal('The badge was removed'),
  picture: Joi.string()
    .meta({ contentType: 'image/svg+xml' })
    .example('<svg xmlns="http://www.w3.org/2000/svg" width="130" height="20" role="img">…</svg>'),
}
