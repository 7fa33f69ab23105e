import Joi from 'joi'
import { held } from '../../server/http/envelopes.ts'
import type { AlertKind, FactText } from '../alerts/api.ts'
import { learnExpected } from './drift/baseline.ts'

type Details = Record<string, unknown>

/** Further changes are counted. */
const MAX_LISTED_CHANGES = 5

const unread = {
  unread_count: held.count.description('Tables that could not be read.'),
  unread: Joi.array().items(Joi.object({ table_path: held.text, error_message: held.text }).unknown()),
}

/** The kinds of alerts about sources and their schemas. */
export const alertKinds: AlertKind[] = [
  {
    name: 'schema_change',
    aliases: ['schema_drift'],
    label: 'schema',
    symptom: 'drift',
    title: 'schema change',
    details: Joi.object({
      table_path: held.text,
      column_name: held.text.description('Of a change of a column.'),
      column_type: held.text,
      change_count: held.count,
      old_value: Joi.object().allow(null),
      new_value: Joi.object().allow(null),
      changes: Joi.array()
        .items(
          Joi.object({
            change_type: held.text,
            object_name: held.text,
            object_type: held.text,
            impact: Joi.string().valid('low', 'medium', 'high'),
          }),
        )
        .description('The first 50; the other fields are those of the worst.'),
    }),
    learnExpected,
    facts: ({ changes, change_count, old_value, new_value }, text) => [
      ['Changes', describeChanges(changes, change_count, text)],
      ['Was', dataType(old_value)],
      ['Is', dataType(new_value)],
    ],
  },
  {
    name: 'discovery_complete',
    label: 'discovery',
    title: 'discovery done',
    isRoutine: true,
    details: Joi.object({
      job_id: held.id,
      table_count: held.count,
      column_count: held.count,
      changes_detected: held.count,
      duration_ms: held.count,
      ...unread,
    }),
  },
  {
    name: 'connection_failed',
    label: 'connection',
    symptom: 'connection',
    title: 'connection failed',
    isRechecked: true,
    details: Joi.object({ error_code: held.text, error_message: held.text, ...unread }),
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
