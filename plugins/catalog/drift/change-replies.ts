import Joi from 'joi'
import { AUTO_INCREMENTS, GENERATED_KINDS } from '../../../connectors/catalog.ts'
import { exampleRecord, held, record } from '../../../server/http/envelopes.ts'
import { IMPACTS } from './diff.ts'

const { id, text, time, count, flag } = held

const column = record({
  name: text,
  data_type: text,
  nullable: flag,
  base_type: Joi.string().optional().description('The type under a domain.'),
  default: text
    .allow(null)
    .optional()
    .description('The default of a column that changed, or the expression of a generated one.'),
  enum_labels: held.texts.optional().description('Where they changed, as all that follows.'),
  attributes: held.texts.optional().description('The attributes of a composite type, each with its type.'),
  character_set: Joi.string().optional(),
  collation: Joi.string().optional(),
  auto_increment: Joi.valid(...AUTO_INCREMENTS).optional(),
  on_update: Joi.string().optional(),
  generated: Joi.valid(...GENERATED_KINDS).optional(),
})
  .label('ChangedColumn')
  .description('Of a column.')

const table = record({ name: text, type: Joi.string(), columns: count })
  .label('ChangedTable')
  .description('Of a table.')

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
})
  .label('ChangedConstraint')
  .description('Of a constraint. A property that is absent is the default of the engine, or is not known.')

const partition = record({ partition_of: text })
  .label('ChangedPartition')
  .description('New value of a table that was removed because it became a partition of this one.')

const value = Joi.alternatives().label('ChangedValue').try(column, table, constraint, partition).allow(null)

const oldExample = { name: 'total', data_type: 'numeric(10,2)', nullable: false, default: null }
const newExample = { name: 'total', data_type: 'double precision', nullable: false, default: null }
const oldObject = value.description('What was; null of an addition.').example(oldExample)
const newObject = value
  .description('What is; null of a removal, unless the table became a partition.')
  .example(newExample)

const line = Joi.string().allow(null)

/** Values of a difference in replies of `sdk/schema`. */
export const valueFields = {
  old_value: line
    .description(
      'What was, in one line: of a column its type, of a renamed one its name; null of an addition.',
    )
    .example('numeric(10,2) not null'),
  new_value: line
    .description('What is, in one line; null of a removal, unless the table became a partition.')
    .example('double precision not null'),
  old_definition: oldObject,
  new_definition: newObject,
}

/** Fields of every difference but its values. */
export const differenceFields = {
  change_type: Joi.valid(...Object.keys(IMPACTS)).example('column_type_changed'),
  object_name: text.description('The column, or the table.').example('total'),
  object_type: Joi.valid('table', 'column').example('column'),
  table_path: Joi.string().description('`catalog.schema.table`.').example('shop.public.orders'),
  impact: Joi.valid('low', 'medium', 'high')
    .description(
      'By the change type. Of `table_removed`, low where the table became a partition of a watched one, else high.',
    )
    .example('medium'),
}

/** Further fields of a recorded change. */
export const changeFields = {
  id: id.example('0196f2e1-2d00-7a11-8c22-b3c4d5e6f708'),
  ...differenceFields,
  detected_at: time.example('2026-03-09T08:05:10.440Z'),
  discovery_id: id.description('The job that found it.').example('0196f2e1-2b3c-7d4e-8f50-a1b2c3d4e5f6'),
  acknowledged: flag.example(false),
}

/** The schema change record. */
export const change = exampleRecord({ ...changeFields, old_value: oldObject, new_value: newObject }).label(
  'SchemaChange',
)
