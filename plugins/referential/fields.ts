import Joi from 'joi'
import { shared, windowFields } from '../../server/http/check-schemas.ts'
import { held } from '../../server/http/envelopes.ts'
import type { CreateBody, Fields, PatchBody } from '../../server/http/fields.ts'
import type { ReferentialCheck } from './models.ts'

const limit = Joi.number().strict().integer().min(0).max(Number.MAX_SAFE_INTEGER).allow(null)
const count = held.count.allow(null)

/** What a referential check is called, and whether it runs. */
export const generalFields = {
  name: { ...shared.name, example: 'Orders have customers' },
  description: shared.description,
  severity: { ...shared.severity, example: 'warning' },
  is_active: { ...shared.isActive, default: true },
} as const satisfies Fields<ReferentialCheck>

/** The limits of a referential check; null removes one. */
export const limitFields = {
  max_orphan_count: {
    column: 'maxOrphanCount',
    body: limit.description('Orphans that are allowed; 0 when no limit is given'),
    patch: true,
    reply: count.description('Orphans that are allowed; 0 when no limit is given.'),
    example: 0,
  },
  max_orphan_percent: {
    column: 'maxOrphanPercent',
    body: Joi.number()
      .strict()
      .min(0)
      .max(100)
      .allow(null)
      .description('Percent of the children that are not NULL.'),
    patch: true,
    example: null,
  },
  min_child_count: {
    column: 'minChildCount',
    body: limit.description('Children that every parent must have'),
    patch: true,
    reply: count.description('Children that every parent must have.'),
    example: null,
  },
  max_child_count: {
    column: 'maxChildCount',
    body: limit.description('Children that a parent may have'),
    patch: true,
    reply: count.description('Children that a parent may have.'),
    example: null,
  },
} as const satisfies Fields<ReferentialCheck>

export const checkFields = {
  ...generalFields,
  filter: {
    ...shared.filter,
    body: shared.filter.body.description(
      'A boolean expression in the SQL of the source: only the children for which it is true refer to a parent.',
    ),
  },
  ...windowFields,
  capture_interval: shared.interval,
  ...limitFields,
} as const satisfies Fields<ReferentialCheck>

/** The body of a new check, validated. */
export type NewCheck = CreateBody<ReferentialCheck, typeof checkFields> & {
  child_table_path: string
  child_column_name: string
  parent_table_path: string
  parent_column_name: string
}

/** The body of a change, validated. */
export type CheckPatch = PatchBody<ReferentialCheck, typeof checkFields>
