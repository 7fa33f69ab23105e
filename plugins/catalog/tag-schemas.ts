import Joi from 'joi'
import { pageQuery } from '../../server/page.ts'

const CATEGORIES = ['business', 'technical', 'governance']

const assetId = Joi.string().max(1_000)
const path = Joi.string().min(1).max(1_500)

/** What tags are called. Filters name several of them apart by commas. */
const tagName = Joi.string()
  .trim()
  .normalize('NFC')
  .min(1)
  .max(100)
  .pattern(/,/, { invert: true, name: 'comma' })
  .pattern(/[\p{Cc}\u2028\u2029]/u, { invert: true, name: 'control' })
  .messages({
    'string.pattern.invert.name':
      '{{#label}} must hold no {if(#name == "comma", "comma, since filters name several tags apart by commas", "control character, such as a line break")}',
  })

const said = { category: Joi.string().valid(...CATEGORIES) }
const objectType = Joi.string().valid('table', 'column')

export const newTag = Joi.object({
  asset_id: assetId.required(),
  name: tagName.required(),
  object_path: path,
  object_type: objectType.default('table'),
  ...said,
  description: Joi.string().allow('', null).max(2_000),
}).required()

export const applyTags = Joi.object({
  asset_id: assetId.required(),
  tag_names: Joi.array().items(tagName).min(1).max(50).required(),
  object_paths: Joi.array().items(path).min(1).max(500).required(),
  object_type: objectType,
  ...said,
}).required()

export const bulkApplyTag = Joi.object({
  tag_name: tagName.required(),
  asset_ids: Joi.array().items(assetId).min(1).max(500).required(),
  ...said,
}).required()

export const tagList = Joi.object({
  asset_id: assetId,
  category: Joi.string().valid(...CATEGORIES),
  name: Joi.string().trim().max(100),
  origin: Joi.string().valid('manual', 'automatic'),
  ...pageQuery({ max: 500, fallback: 100 }),
})

export const tagParams = Joi.object({ id: Joi.string().max(100).required() })
