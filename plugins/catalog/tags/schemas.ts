import Joi from 'joi'
import { pageQuery, type Page } from '../../../server/http/page.ts'
import type { Tag } from '../models.ts'
import type { TagFields } from './tags.ts'

const CATEGORIES = ['business', 'technical', 'governance']

const assetId = Joi.string().max(1_000)
const path = Joi.string().min(1).max(1_500)

/** What tags are called. Filters name several of them apart by commas. */
const tagName = Joi.string()
  .trim()
  .normalize('NFC')
  .min(1)
  .max(100)
  .custom((name: string, helpers) => {
    if (name.includes(',')) return helpers.error('tag.comma')
    return /[\p{Cc}\u2028\u2029]/u.test(name) ? helpers.error('tag.control') : name
  })
  .messages({
    'tag.comma': '{{#label}} must hold no comma, since filters name several tags apart by commas',
    'tag.control': '{{#label}} must hold no control character, such as a line break',
  })
  .meta({ openapi: { pattern: '^[^,\\p{Cc}\\u2028\\u2029]*$' } })
  .example('pii.email')

const category = { category: Joi.string().valid(...CATEGORIES) }
const objectType = Joi.string().valid('table', 'column')

export interface TagRequest extends TagFields {
  asset_id: string
  name: string
  object_path?: string
  object_type: 'table' | 'column'
}

export const newTag = Joi.object<TagRequest>({
  asset_id: assetId.required(),
  name: tagName.required(),
  object_path: path.description('A table or column within the asset; the asset itself unless given.'),
  object_type: objectType.default('table'),
  ...category,
  description: Joi.string().allow('', null).max(2_000),
})
  .required()
  .example({
    asset_id: 'shop',
    name: 'pii.email',
    object_path: 'public.customers.email',
    object_type: 'column',
    category: 'governance',
  })

export interface Application {
  asset_id: string
  tag_names: string[]
  object_paths: string[]
  object_type?: 'table' | 'column'
  category?: Tag['category']
}

export const applyTags = Joi.object<Application>({
  asset_id: assetId.required(),
  tag_names: Joi.array().items(tagName).min(1).max(50).required(),
  object_paths: Joi.array().items(path).min(1).max(500).required(),
  object_type: objectType,
  ...category,
})
  .required()
  .example({
    asset_id: 'shop',
    tag_names: ['finance'],
    object_paths: ['public.orders', 'public.payments'],
    object_type: 'table',
  })

export interface BulkApplication {
  tag_name: string
  asset_ids: string[]
  category?: Tag['category']
}

export const bulkApplyTag = Joi.object<BulkApplication>({
  tag_name: tagName.required(),
  asset_ids: Joi.array().items(assetId).min(1).max(500).required(),
  ...category,
})
  .required()
  .example({ tag_name: 'finance', asset_ids: ['shop.shop.public.orders', 'shop.shop.public.payments'] })

export interface TagListQuery extends Page {
  asset_id?: string
  category?: Tag['category']
  name?: string
  origin?: Tag['origin']
}

export const tagList = Joi.object<TagListQuery>({
  asset_id: assetId,
  category: Joi.string()
    .valid(...CATEGORIES)
    .description('Only tags of this category.'),
  name: Joi.string().trim().max(100).description('Only tags of this name, all of it.'),
  origin: Joi.string().valid('manual', 'automatic').description('Applied by a person, a key or a discovery.'),
  ...pageQuery({ max: 500, fallback: 100 }),
})

export const tagParams = Joi.object({ id: Joi.string().max(100).required() })
