import Joi from 'joi'
import { dryRunKeys, tablePath } from '../../server/http/check-schemas.ts'
import { createKeys, patchKeys } from '../../server/http/fields.ts'
import { comparisonFields } from './fields.ts'

/** The public id, or the internal one; whatever else it is names no comparison. */
export const comparisonId = Joi.string().required()

export const newComparison = Joi.object({
  table_path: tablePath.description('The left table.'),
  right_source: Joi.string()
    .min(1)
    .max(1_000)
    .description(
      'The source of the right table, by its name or id; that of the left one where it is left out.',
    ),
  right_table_path: tablePath.description('The right table.'),
  ...createKeys(comparisonFields),
})
  .required()
  .example({
    table_path: 'public.orders',
    right_source: 'production',
    right_table_path: 'public.orders',
    key_columns: ['id'],
    columns: ['status', { left: 'amount', tolerance: 0.01 }],
  })

/** A comparison of a declaration: the body of a new one without the left table. */
export const declaredComparison = newComparison.keys({ table_path: Joi.forbidden() })

/** The body of a new comparison, and the asset that has its left table. */
export const dryRun = newComparison.keys({ asset_id: dryRunKeys.asset_id }).example(
  {
    asset_id: 'warehouse',
    table_path: 'public.orders',
    right_source: 'production',
    right_table_path: 'public.orders',
    key_columns: ['id'],
  },
  { override: true },
)

export const comparisonPatch = Joi.object(patchKeys(comparisonFields))
  .required()
  .example({ max_differing_percent: 0.1 })

/** Nothing can be chosen. */
export const emptyBody = Joi.object({}).allow(null).example({})
