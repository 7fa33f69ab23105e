import Joi from 'joi'
import { pageQuery, queryBoolean } from '../../../server/http/page.ts'
import { SEVERITIES } from '../api.ts'
import { uuid } from '../lifecycle/schemas.ts'

const listOf = (item: Joi.Schema, max: number) => Joi.array().items(item).min(1).max(max).unique()

/** The input of the routes of alert rules. */
export function ruleSchemas(kindNames: readonly string[]) {
  const rule = {
    name: Joi.string().trim().min(1).max(200),
    description: Joi.string().trim().allow(null, '').max(2_000),
    event_types: listOf(Joi.string().valid(...kindNames), kindNames.length).allow(null),
    severities: listOf(Joi.string().valid(...SEVERITIES), SEVERITIES.length).allow(null),
    asset_ids: listOf(uuid, 1_000).allow(null),
    tag_filter_mode: Joi.string().valid('any', 'all').allow(null),
    tag_filter_tags: listOf(Joi.string().min(1).max(200), 100).allow(null),
    destination_ids: listOf(uuid, 100),
    cooldown_minutes: Joi.number().integer().min(0).max(43_200),
    is_active: Joi.boolean().strict(),
  }
  const { name: _name, description: _description, is_active: _isActive, ...previewed } = rule
  return {
    newRule: Joi.object({
      ...rule,
      name: rule.name.required(),
      destination_ids: rule.destination_ids.required(),
      cooldown_minutes: rule.cooldown_minutes.default(0),
      is_active: rule.is_active.default(true),
    }).required(),
    rules: Joi.object({
      ...pageQuery(),
      is_active: queryBoolean,
      destination_id: uuid.description('Rules that send to this destination.'),
    }),
    preview: Joi.object({
      ...previewed,
      rule_id: uuid.description('A stored rule to start from.'),
      days_back: Joi.number().integer().min(1).max(90).default(7).description('How far to look back.'),
      limit: Joi.number().integer().min(1).max(100).default(20).description('How many alerts to show.'),
      offset: Joi.number().integer().min(0).max(1_000_000_000).default(0),
    }).required(),
    rulePatch: Joi.object({
      ...rule,
      // A rule whose only destination was deleted is off and has none: a client can send back what it read.
      destination_ids: Joi.array().items(uuid).max(100).unique(),
    })
      .min(1)
      .required(),
  }
}
