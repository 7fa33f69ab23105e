import Joi from 'joi'
import { held, record } from '../../../server/http/envelopes.ts'
import { IMPACTS } from './diff.ts'

const { id, text, time, count, flag } = held

const column = record({
  name: text,
  data_type: text,
  nullable: flag,
  base_type: Joi.string().optional().description('The type under a domain.'),
  default: text.allow(null).optional().description('Of a column whose type, nullability or default changed.'),
}).description('Of a column.')

const table = record({ name: text, type: Joi.string(), columns: count }).description('Of a table.')

const action = Joi.valid('restrict', 'cascade', 'set_null', 'set_default').optional()

const constraint = record({
  name: text,
  type: Joi.valid('primary_key', 'foreign_key', 'unique'),
  columns: held.texts,
  references: record({ table: text, columns: held.texts }).optional().description('Of a foreign key.'),
  on_delete: action,
  on_update: action,
  match: Joi.valid('full', 'partial').optional(),
  deferrable: Joi.valid(true).optional(),
  initially_deferred: Joi.valid(true).optional(),
  nulls_not_distinct: Joi.valid(true).optional(),
  prefix_lengths: Joi.array()
    .items(count.allow(null))
    .optional()
    .description('Of each column, how much of it counts; null where all of it does.'),
}).description('Of a constraint. A property that is absent is the default of the engine, or is not known.')

const partition = record({ partition_of: text }).description(
  'New value of a table that was removed because it became a partition of this one.',
)

const value = Joi.alternatives().try(column, table, constraint, partition).allow(null)

/** Fields of every difference. */
export const differenceFields = {
  change_type: Joi.valid(...Object.keys(IMPACTS)),
  object_name: text.description('The column, or the table.'),
  object_type: Joi.valid('table', 'column'),
  old_value: value.description('What was; null of an addition.'),
  new_value: value.description('What is; null of a removal, unless the table became a partition.'),
  table_path: Joi.string().description('`catalog.schema.table`.'),
  impact: Joi.valid('low', 'medium', 'high').description(
    'Of `constraint_changed`, high where a primary key or unique constraint was removed or weakened, else medium. Of `table_removed`, low where the table became a partition of a watched one, else high.',
  ),
}

/** Further fields of a recorded change. */
export const changeFields = {
  id,
  ...differenceFields,
  detected_at: time,
  discovery_id: id.description('The job that found it.'),
  acknowledged: flag,
}

/** An example of a difference. */
export const DIFFERENCE = {
  change_type: 'column_type_changed',
  object_name: 'total',
  object_type: 'column',
  old_value: { name: 'total', data_type: 'numeric(10,2)', nullable: false, default: null },
  new_value: { name: 'total', data_type: 'double precision', nullable: false, default: null },
  table_path: 'shop.public.orders',
  impact: 'medium',
}

/** An example of a recorded change. */
export const CHANGE = {
  id: '0196f2e1-2d00-7a11-8c22-b3c4d5e6f708',
  ...DIFFERENCE,
  detected_at: '2026-03-09T08:05:10.440Z',
  discovery_id: '0196f2e1-2b3c-7d4e-8f50-a1b2c3d4e5f6',
  acknowledged: false,
}

/** The schema change record. */
export const change = record(changeFields, CHANGE).label('SchemaChange')
