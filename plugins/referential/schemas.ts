import Joi from 'joi'
import { pageQuery, queryBoolean } from '../../server/http/page.ts'

const tablePath = Joi.string().min(1).max(1_000).required()
const columnName = Joi.string().min(1).max(300).required()
const count = Joi.number().strict().integer().min(0).max(Number.MAX_SAFE_INTEGER)
const percent = Joi.number().strict().min(0).max(100)
const name = Joi.string().trim().min(1).max(200)
const description = Joi.string().allow('', null).max(2_000)
const severity = Joi.string().valid('info', 'warning', 'critical')
const interval = Joi.string().valid('hourly', 'daily', 'weekly')
const isActive = Joi.boolean().strict()

const limits = {
  max_orphan_count: count.allow(null).description('Orphans that are allowed; 0 when no limit is given'),
  max_orphan_percent: percent.allow(null).description('Of the children that are not NULL'),
  min_child_count: count.allow(null).description('Children that every parent must have'),
  max_child_count: count.allow(null).description('Children that a parent may have'),
}

export const assetParams = Joi.object({ asset_id: Joi.string().max(1_000).required() })

/** The public id, or the internal one; whatever else it is names no check. */
export const checkParams = assetParams.keys({ check_id: Joi.string().required() })

export const newCheck = Joi.object({
  child_table_path: tablePath,
  child_column_name: columnName,
  parent_table_path: tablePath,
  parent_column_name: columnName,
  name,
  description,
  severity: severity.default('warning'),
  is_active: isActive.default(true),
  capture_interval: interval.default('daily'),
  ...limits,
})
  .required()
  .example({
    child_table_path: 'public.orders',
    child_column_name: 'customer_id',
    parent_table_path: 'public.customers',
    parent_column_name: 'id',
    name: 'Orders have customers',
  })

export const checkPatch = Joi.object({
  name,
  description,
  severity,
  is_active: isActive,
  capture_interval: interval,
  ...limits,
})
  .required()
  .example({ max_orphan_percent: 0.5 })

export const checkList = Joi.object({ is_active: queryBoolean, ...pageQuery() })

export const resultList = Joi.object(pageQuery({ max: 1_000, fallback: 100 }))

/** Nothing can be chosen. */
export const noBody = Joi.object({}).allow(null).example({})
