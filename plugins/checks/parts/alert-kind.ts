import Joi from 'joi'
import { held } from '../../../server/http/envelopes.ts'
import type { AlertKind } from '../../alerts/api.ts'

/** Numbers that were kept of parts of a table were not those of their rows, though the source said that nothing changed. */
export const partMismatch: AlertKind = {
  name: 'part_mismatch',
  label: 'parts',
  title: 'kept numbers were wrong',
  details: Joi.object({
    table_path: held.text,
    parts: Joi.array().items(Joi.string()).description('The first 20 parts whose numbers were others.'),
    part_count: held.count,
  }),
  facts: ({ part_count }) => [['Parts', part_count]],
}
