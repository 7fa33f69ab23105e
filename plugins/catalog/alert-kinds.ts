import type { AlertKind, FactText } from '../alerts/api.ts'
import { learnExpected } from './drift/baseline.ts'

type Details = Record<string, unknown>

/** Further changes are counted. */
const MAX_LISTED_CHANGES = 5

/** The kinds of alerts about sources and their schemas. */
export const alertKinds: AlertKind[] = [
  {
    name: 'schema_change',
    aliases: ['schema_drift'],
    label: 'schema',
    learnExpected,
    facts: ({ changes, change_count, old_value, new_value }, text) => [
      ['Changes', describeChanges(changes, change_count, text)],
      ['Was', dataType(old_value)],
      ['Is', dataType(new_value)],
    ],
  },
  { name: 'discovery_complete', label: 'discovery', isRoutine: true },
  {
    name: 'connection_failed',
    label: 'connection',
    isRechecked: true,
    facts: ({ error_code }) => [['Error', error_code]],
  },
]

function describeChanges(changes: unknown, count: unknown, { fill, join }: FactText): string | null {
  if (!Array.isArray(changes)) return null
  const listed = (changes.slice(0, MAX_LISTED_CHANGES) as Details[]).map(
    ({ change_type, object_name }) => fill`${fill`${change_type}`?.replaceAll('_', ' ')} ${object_name}`,
  )
  const more = Number(count ?? changes.length) - listed.length
  return join([...listed, more > 0 ? `and ${more} more` : null])
}

function dataType(value: unknown): unknown {
  return ((value ?? {}) as Details).data_type
}
