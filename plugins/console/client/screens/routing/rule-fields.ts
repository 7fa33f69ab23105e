import type { AlertRule, Destination, PreviewAlertRuleRequest } from 'tidemark/client'
import { buildBody, findProblem, type FieldSpec, type Values } from '../../forms/schema.ts'
import { KIND_NAMES, routingTexts } from '../../texts/routing.ts'
import { texts } from '../../texts.ts'

const SEVERITIES = ['critical', 'warning', 'info'] as const
const MAX_COOLDOWN_MINUTES = 43_200

/** The fields of a rule; those of kind `lines` with choices are shown as boxes. */
export function ruleFields(destinations: readonly Destination[], rule?: AlertRule) {
  // Kinds of an extension are not named here; a rule keeps those that it has.
  const kinds: Record<string, string> = {
    ...KIND_NAMES,
    ...Object.fromEntries(
      (rule?.event_types ?? []).filter(kind => !(kind in KIND_NAMES)).map(kind => [kind, kind]),
    ),
  }
  return {
    name: { name: 'name', label: texts.name, kind: 'text', isRequired: true, maxLength: 200 },
    destinations: {
      name: 'destination_ids',
      label: routingTexts.sendTo,
      kind: 'lines',
      isRequired: true,
      choices: destinations.map(({ id, name, is_active: isActive }) => [
        id,
        isActive ? name : routingTexts.pausedChoice(name),
      ]),
    },
    severities: {
      name: 'severities',
      label: routingTexts.severities,
      kind: 'lines',
      hint: routingTexts.severitiesHint,
      choices: SEVERITIES.map(severity => [severity, severity]),
    },
    kinds: {
      name: 'event_types',
      label: routingTexts.kinds,
      kind: 'lines',
      hint: routingTexts.kindsHint,
      choices: Object.entries(kinds),
    },
    assets: {
      name: 'asset_ids',
      label: routingTexts.assets,
      kind: 'lines',
      hint: routingTexts.assetsHint,
    },
    tags: { name: 'tag_filter_tags', label: routingTexts.tags, kind: 'lines', hint: routingTexts.tagsHint },
    tagMode: {
      name: 'tag_filter_mode',
      label: routingTexts.tagMode,
      kind: 'choice',
      isRequired: true,
      initial: 'any',
      choices: routingTexts.tagModes,
    },
    cooldown: {
      name: 'cooldown_minutes',
      label: routingTexts.cooldownMinutes,
      kind: 'integer',
      isRequired: true,
      initial: '0',
      min: 0,
      max: MAX_COOLDOWN_MINUTES,
      hint: routingTexts.cooldownHint,
    },
    description: {
      name: 'description',
      label: routingTexts.description,
      kind: 'long',
      maxLength: 2_000,
    },
  } as const satisfies Record<string, FieldSpec>
}
export type RuleFields = ReturnType<typeof ruleFields>

/** Without tags there is no mode: the server refuses one. */
export function dropModeWithoutTags<Body extends object>(body: Body, values: Values): Body {
  if (String(values.tag_filter_tags ?? '').trim() !== '') return body
  const { tag_filter_mode: _mode, ...rest } = body as Body & { tag_filter_mode?: unknown }
  return rest as Body
}

/** What a preview is asked for; fields that are still wrong are left out. */
export function previewBody(fields: RuleFields, values: Values): PreviewAlertRuleRequest {
  const { destinations, severities, kinds, assets, tags, tagMode, cooldown } = fields
  const specs: FieldSpec[] = [destinations, severities, kinds, assets, tags, tagMode, cooldown]
  const right = specs.filter(spec => findProblem(spec, values[spec.name] ?? '') === undefined)
  return dropModeWithoutTags(buildBody(right, values), values) as PreviewAlertRuleRequest
}
