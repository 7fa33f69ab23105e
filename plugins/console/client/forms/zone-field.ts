import { zone } from '../lib/format.ts'
import type { FieldSpec } from './schema.ts'

/** The field of a time zone. @param stored that of the record; a new one starts with the reader's */
export function zoneField(stored = zone()) {
  const zones = [...new Set([stored, 'UTC', ...Intl.supportedValuesOf('timeZone')])]
  return {
    ...{ name: 'timezone', label: 'Time zone', kind: 'choice', isRequired: true, initial: zone() },
    choices: zones.map(name => [name, name] as const),
  } as const satisfies FieldSpec
}
