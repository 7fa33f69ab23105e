import Joi from 'joi'
import { exampleRecord, inData } from '../../server/http/envelopes.ts'
import {
  createKeys,
  patchKeys,
  replyKeys,
  type CreateBody,
  type PatchBody,
} from '../../server/http/fields.ts'
import { pageQuery, queryBoolean, type Page } from '../../server/http/page.ts'
import { assetId, badgeFields } from './fields.ts'
import type { Badge } from './models.ts'

export type NewBadge = CreateBody<Badge, typeof badgeFields>
export type BadgePatch = PatchBody<Badge, typeof badgeFields>

export const newBadge = Joi.object<NewBadge>(createKeys(badgeFields))
  .required()
  .example({ asset_id: 'shop.main.main.orders', label: 'orders', freshness_enabled: true })
  .label('CreateBadgeRequest')

export const badgeChange = Joi.object<BadgePatch>(patchKeys(badgeFields))
  .required()
  .example({ label: 'orders, fresh and valid', schema_drift_enabled: true })
  .label('UpdateBadgeRequest')

export const badgeParams = Joi.object({ id: Joi.string().required().description('The id of a badge.') })

/** Which badges are listed. */
export interface BadgeListQuery extends Page {
  /** The id or qualified name of a source or a table. */
  asset_id?: string
  active_only: boolean
}

export const badgeList = Joi.object<BadgeListQuery>({
  ...pageQuery(),
  asset_id: assetId,
  active_only: queryBoolean.default(false).description('Leaves out inactive badges.'),
})

export const pictureParams = Joi.object({
  public_id: Joi.string()
    .pattern(/^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[A-Za-z0-9_-]{22})$/)
    .required()
    .messages({ 'string.pattern.base': '{{#label}} must be a UUID' })
    .description('The public id of a badge.')
    .meta({ openapi: { type: 'string', format: 'uuid', pattern: undefined } }),
})

const { id, status, badge_url } = replyKeys(badgeFields)

export const replies = {
  badge: exampleRecord(replyKeys(badgeFields)).label('Badge'),
  status: inData(
    exampleRecord({ badge_id: id!, status: status!, badge_url: badge_url! }).label('BadgeState'),
  ),
  picture: Joi.string()
    .meta({ contentType: 'image/svg+xml' })
    .example('<svg xmlns="http://www.w3.org/2000/svg" width="130" height="20" role="img">…</svg>'),
}
