import Joi from 'joi'
import { pageQuery, type Page, queryBoolean } from '../../../server/http/page.ts'
import { SEVERITIES, type AlertKind } from '../api.ts'
import { kindWords } from '../kinds.ts'
import { idParam, uuid } from '../../../server/http/input.ts'
import type { EscalationStep } from '../models.ts'
import type { PreviewInput } from './preview.ts'
import type { RuleInput } from './rules.ts'

const daysBack = Joi.number().integer().min(1).max(90)

const listOf = (item: Joi.Schema, max: number) => Joi.array().items(item).min(1).max(max).unique()

const MAX_STEPS = 5
const MAX_STEP_MINUTES = 10_080

const escalationInput = Joi.array<EscalationStep[]>()
  .items(
    Joi.object({
      after_minutes: Joi.number()
        .strict()
        .integer()
        .min(1)
        .max(MAX_STEP_MINUTES)
        .required()
        .description('Since the rule sent the alert.'),
      destination_ids: listOf(uuid, 100).required(),
    }),
  )
  .min(1)
  .max(MAX_STEPS)
  .custom((steps: EscalationStep[], helpers) =>
    steps.every((step, n) => n === 0 || step.after_minutes > steps[n - 1]!.after_minutes)
      ? steps
      : helpers.message({ custom: '{{#label}} must have its steps in the order of their times' }),
  )
  .allow(null)
  .description(
    'Who is notified next while no person has acknowledged, snoozed or ended the alert; null for none.',
  )

/** Fields of replies that a client may send back, beside those that they follow from. */
const derivedFields = {
  rule_type: Joi.string().max(100).description('Follows from `event_types`, which has to be given too.'),
  severity: Joi.string()
    .valid(...SEVERITIES)
    .description('Follows from `severities`, which has to be given too.'),
}

interface RuleFilters extends Page {
  is_active?: boolean
  enabled_only?: boolean
  destination_id?: string
}

export function ruleSchemas(kinds: readonly AlertKind[]) {
  const words = kindWords(kinds)
  const rule = {
    name: Joi.string().trim().min(1).max(200),
    description: Joi.string().trim().allow(null, '').max(2_000),
    event_types: listOf(Joi.string().valid(...words.keys()), words.size)
      .custom((given: string[]) => [...new Set(given.map(word => words.get(word)))])
      .allow(null),
    severities: listOf(Joi.string().valid(...SEVERITIES), SEVERITIES.length).allow(null),
    asset_ids: listOf(uuid, 1_000).allow(null),
    tag_filter_mode: Joi.string().valid('any', 'all').allow(null),
    tag_filter_tags: listOf(Joi.string().min(1).max(200), 100).allow(null),
    owners: listOf(Joi.string().trim().min(1).max(254), 100)
      .allow(null)
      .description(
        'Users, teams and addresses, of which any owns the asset: their ids, or the name of a team.',
      ),
    destination_ids: listOf(uuid, 100),
    cooldown_minutes: Joi.number().integer().min(0).max(43_200),
    escalation: escalationInput,
    is_active: Joi.boolean().strict(),
    enabled: Joi.boolean().strict().description('Another name for `is_active`, which goes first.'),
    is_notify_code_authors: Joi.valid(false)
      .messages({ 'any.only': '{{#label}} must be false: authors of code are not known here' })
      .description('Only false: authors of code are not known here. Name destinations.'),
    code_author_min_confidence: Joi.number()
      .min(0)
      .max(1)
      .allow(null)
      .description('Stored. It has no effect, since authors of code are not notified.'),
  }
  const previewed = {
    event_types: rule.event_types,
    severities: rule.severities,
    asset_ids: rule.asset_ids,
    tag_filter_mode: rule.tag_filter_mode,
    tag_filter_tags: rule.tag_filter_tags,
    owners: rule.owners,
    destination_ids: rule.destination_ids,
    cooldown_minutes: rule.cooldown_minutes,
  }
  return {
    newRule: ruleBody({
      ...rule,
      name: rule.name.required(),
      destination_ids: rule.destination_ids.required(),
      cooldown_minutes: rule.cooldown_minutes.default(0),
    }).required(),
    rules: Joi.object<RuleFilters>({
      ...pageQuery(),
      is_active: queryBoolean,
      enabled_only: queryBoolean.description('Whether to leave out rules that are switched off.'),
      destination_id: uuid.description('Rules that send to this destination.'),
    }),
    links: Joi.object<{ destination_ids: string[] }>({
      destination_ids: rule.destination_ids.required(),
    }).required(),
    linkParams: Joi.object({
      id: idParam,
      destination_id: idParam.description('The id of a destination of the rule.'),
    }),
    preview: Joi.object<PreviewInput>({
      ...previewed,
      rule_id: uuid.description('A stored rule to start from.'),
      days_back: daysBack.description('How far to look back; defaults to 7.'),
      lookback_days: daysBack.description('Another name for `days_back`.'),
      limit: Joi.number().integer().min(1).max(100).default(20).description('How many alerts to show.'),
      offset: Joi.number().integer().min(0).max(1_000_000_000).default(0),
    })
      .without('lookback_days', 'days_back')
      .example({ severities: ['critical'], days_back: 7 })
      .required(),
    rulePatch: ruleBody({
      ...rule,
      // A rule whose only destination was deleted is off and has none: a client can send back what it read.
      destination_ids: Joi.array().items(uuid).max(100).unique(),
    })
      .min(1)
      .required(),
  }
}

const ruleBody = (fields: Record<string, Joi.Schema>) =>
  Joi.object<RuleInput>({ ...fields, ...derivedFields })
    .with('rule_type', 'event_types')
    .with('severity', 'severities')
    .messages({ 'object.with': '{{#main}} follows from {{#peer}}: give {{#peer}}' })
