import type { AuditEntry } from 'tidemark/client'
import { formatTime, inWords } from '../../lib/format.ts'
import { labelOf } from '../../forms/schema.ts'
import { auditTexts } from './audit-texts.ts'
import { texts } from '../../texts.ts'

/** An action in words that follow the name of who did it: `source.updated` is "updated the source". */
export function describeAction(action: string, { names }: Record<string, unknown> = {}): string {
  if (action === 'tag.applied' && Array.isArray(names)) return auditTexts.tagged(names.map(String))
  const known = auditTexts.actions[action]
  if (known !== undefined) return known
  const [thing = '', happened = ''] = action.split('.')
  return happened
    ? `${inWords(happened)} the ${inWords(thing).replace('api key', 'API key')}`
    : inWords(thing)
}

/** Who did it, for people. */
export function nameActor({ actor, actor_name: name }: AuditEntry): string {
  if (actor === 'system') return 'Tidemark'
  return name ?? (actor === 'cli' ? 'an operator' : actor)
}

const ID = /^[\da-f]{8}-[\da-f-]{27}$/

/** What the action was about, as far as the entry has a name for it. */
export function nameTarget({ actor, details, target }: AuditEntry): string {
  const names = ['name', 'email', 'title', 'table', 'metric_type'].map(key => details[key])
  const known = names.find(value => typeof value === 'string')
  if (known !== undefined && known === details.metric_type) return inWords(known)
  // What a user did to their own account needs no name. An id names nothing to people; the details have it.
  if (known !== undefined || target === null || actor === `user:${target.id}`) return known ?? ''
  return target.name ?? (ID.test(target.id) ? '' : target.id)
}

const SCREENS: Record<string, (id: string) => string> = {
  source: id => `/sources/${id}`,
  alert: id => `/alerts/${id}`,
  destination: id => `/routing/${id}`,
}

/** The screen of what the action was about, if it has one. It may be gone since. */
export const addressOf = ({ target }: AuditEntry): string | undefined =>
  target ? SCREENS[target.type]?.(target.id) : undefined

/** What else the entry knows, as names and values for people. */
export function listDetails({ details }: AuditEntry): [name: string, value: string][] {
  return Object.entries(details).map(([name, value]) => [labelOf(name), describeValue(value)])
}

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

function describeValue(value: unknown): string {
  if (value === null || value === undefined) return auditTexts.nothing
  if (typeof value === 'boolean') return value ? texts.yes : texts.no
  if (typeof value === 'string') return TIME.test(value) ? formatTime(value) : value
  if (Array.isArray(value)) return value.map(describeValue).join(', ') || auditTexts.nothing
  if (typeof value !== 'object') return String(value)
  const { from, to, ...others } = value as { from?: unknown; to?: unknown }
  if ((from !== undefined || to !== undefined) && Object.keys(others).length === 0)
    return `${describeValue(from)} → ${describeValue(to)}`
  return JSON.stringify(value)
}
