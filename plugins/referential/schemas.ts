import Joi from 'joi'
import { columnName, dryRunKeys, tablePath } from '../../server/http/check-schemas.ts'
import { createKeys, patchKeys } from '../../server/http/fields.ts'
import { checkFields } from './fields.ts'

/** The public id, or the internal one; whatever else it is names no check. */
export const checkId = Joi.string().required()

export const newCheck = Joi.object({
  child_table_path: tablePath,
  child_column_name: columnName.required(),
  parent_table_path: tablePath,
  parent_column_name: columnName.required(),
  ...createKeys(checkFields),
})
  .required()
  .example({
    child_table_path: 'public.orders',
    child_column_name: 'customer_id',
    parent_table_path: 'public.customers',
    parent_column_name: 'id',
    name: 'Orders have customers',
  })

/** A check of a declaration: the body of a new one without the child's table. */
export const declaredCheck = newCheck.keys({ child_table_path: Joi.forbidden() })

/** The body of a new check, and the asset that has it. */
export const dryRun = newCheck.keys({ asset_id: dryRunKeys.asset_id }).example(
  {
    asset_id: 'shop',
    child_table_path: 'public.orders',
    child_column_name: 'customer_id',
    parent_table_path: 'public.customers',
    parent_column_name: 'id',
  },
  { override: true },
)

export const checkPatch = Joi.object(patchKeys(checkFields)).required().example({ max_orphan_percent: 0.5 })

/** Nothing can be chosen. */
export const emptyBody = Joi.object({}).allow(null).example({})
