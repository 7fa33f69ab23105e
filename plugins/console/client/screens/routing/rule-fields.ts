import type { AlertEventType, AlertRule, Destination, PreviewAlertRuleRequest } from 'tidemark/client'
import { buildBody, findProblem, type FieldSpec, type Values } from '../../forms/schema.ts'
import { routingTexts } from './texts.ts'
import { texts } from '../../texts.ts'

const SEVERITIES = ['critical', 'warning', 'info'] as const
const MAX_COOLDOWN_MINUTES = 43_200

/** The fields of a rule; those of kind `lines` with choices are shown as boxes. */
export function ruleFields(
  destinations: readonly Destination[],
  alertKinds: readonly AlertEventType[],
  rule?: AlertRule,
) {
  // A rule keeps a kind whose extension is not loaded.
  const missing = (rule?.event_types ?? []).filter(type => !alertKinds.some(kind => kind.event_type === type))
  return {
    name: { name: 'name', label: texts.name, kind: 'text', isRequired: true, maxLength: 200 },
    destinations: {
      name: 'destination_ids',
      label: 'Send to',
      kind: 'lines',
      isRequired: true,
      choices: destinations.map(({ id, name, is_active: isActive }) => [
        id,
        isActive ? name : `${name} (paused)`,
      ]),
    },
    severities: {
      name: 'severities',
      label: 'Severities',
      kind: 'lines',
      hint: 'None ticked: all severities.',
      choices: SEVERITIES.map(severity => [severity, severity]),
    },
    kinds: {
      name: 'event_types',
      label: 'Kinds of alerts',
      kind: 'lines',
      hint: 'None ticked: all but discovery done.',
      choices: [
        ...alertKinds.map(({ event_type: type, label }) => [type, label] as const),
        ...missing.map(type => [type, type] as const),
      ],
    },
    assets: {
      name: 'asset_ids',
      label: routingTexts.assets,
      kind: 'lines',
      hint: 'None ticked: all sources and tables. A source stands for all its tables.',
    },
    tags: {
      name: 'tag_filter_tags',
      label: 'Tags',
      kind: 'lines',
      hint: 'Tags of the table, one on each line. Empty: any.',
    },
    tagMode: {
      name: 'tag_filter_mode',
      label: 'A table needs',
      kind: 'choice',
      isRequired: true,
      initial: 'any',
      choices: routingTexts.tagModes,
    },
    cooldown: {
      name: 'cooldown_minutes',
      label: 'Cooldown in minutes',
      kind: 'integer',
      isRequired: true,
      initial: '0',
      min: 0,
      max: MAX_COOLDOWN_MINUTES,
      hint: 'Within it one message per cause; a later one waits until it ends. 0: no cooldown.',
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
