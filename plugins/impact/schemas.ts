import Joi from 'joi'
import { exampleRecord, held, inData, record, reply } from '../../server/http/envelopes.ts'
import { CHANGE_TYPES, isOfColumn, LEVELS, type ChangeType, type PlannedChange } from './changes.ts'

const { id, text, count, integer, flag, texts } = held
const ORDERS = '0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d90'

const name = Joi.string().min(1).max(500)

/** What names the thing that a change is about. */
function fieldsOf(change: ChangeType): ('table' | 'schema' | 'column')[] {
  if (change === 'drop_schema') return ['schema']
  return isOfColumn(change) ? ['table', 'column'] : ['table']
}

/** The kinds of changes by the fields that they need, for the description. */
const CHOICES = [...Map.groupBy(CHANGE_TYPES, change => fieldsOf(change).join()).values()].map(kinds => ({
  properties: { change: { enum: kinds } },
  required: ['change', ...fieldsOf(kinds[0]!)],
}))

const plannedChange = Joi.object({
  change: Joi.string()
    .valid(...CHANGE_TYPES)
    .required(),
  table: name.max(1_500).description('`catalog.schema.table`, or less where that is clear.'),
  schema: name.description('Of `drop_schema`: `catalog.schema`, or `schema`.'),
  column: name,
  new_type: name.description('Of `retype_column`; without it, any type.'),
  new_name: name.description('What it is called then.'),
})
  .custom((change: PlannedChange, helpers) => {
    const missing = fieldsOf(change.change).find(field => !Object.hasOwn(change, field))
    return missing === undefined ? change : helpers.error('change.missing', { missing, kind: change.change })
  })
  .messages({ 'change.missing': '{{#label}} needs {{#missing}}, as {{#kind}} does' })
  .meta({ openapi: { oneOf: CHOICES } })
  .label('PlannedChange')

/** Changes of one request: a migration has some, and each is looked for through the whole graph. */
export const MAX_CHANGES = 100

export const impactRequest = Joi.object<{ source: string; changes: PlannedChange[] }>({
  source: Joi.string().max(1_000).required().description('The source, by its id or name.'),
  changes: Joi.array().items(plannedChange).min(1).max(MAX_CHANGES).required(),
})
  .required()
  .example({
    source: 'shop',
    changes: [{ change: 'drop_column', table: 'public.orders', column: 'total' }],
  })
  .label('ImpactRequest')

export const alertParams = Joi.object({
  id: Joi.string().max(100).required().description('The id of an alert.'),
})
export const changeParams = Joi.object({
  change_id: Joi.string().max(100).required().description('The id of a schema change.'),
})

const level = Joi.valid(...LEVELS)
const certainty = Joi.valid('certain', 'possible').description(
  '`certain` where a column, or the table as a whole, is known to be used; `possible` where columns are not known.',
)

const dependent = record({
  id,
  name: text,
  qualified_name: text,
  asset_type: Joi.string(),
  url: Joi.string().allow(null),
  distance: integer.description('Steps from the changed table.'),
  certainty,
  columns: texts
    .allow(null)
    .description('Its columns that are hit; null where they are not known, empty where its rows are.'),
  owners: Joi.array().items(record({ name: text, email: Joi.string().allow(null) })),
  sentence: text,
}).label('Dependent')

const affected = {
  tables: Joi.array().items(dependent).description('Nearest first.').example([]),
  dashboards: Joi.array()
    .items(dependent)
    .description('Dashboards, notebooks, models and applications, nearest first.')
    .example([]),
  owners: Joi.array()
    .items(
      record({
        type: Joi.valid('user', 'team', 'email', 'name'),
        id: id.allow(null),
        name: text,
        email: Joi.string().allow(null),
        assets: count.description('How many of these they own.'),
      }).label('HitOwner'),
    )
    .example([]),
  is_complete: flag.description('False where there are more edges than are followed, 2,000.').example(true),
}

const changeImpact = exampleRecord({
  change: Joi.string().example('drop_column'),
  table: record({ id, qualified_name: text })
    .allow(null)
    .example({ id: ORDERS, qualified_name: 'shop.shop.public.orders' }),
  schema: text.allow(null).example(null),
  column: text.allow(null).example('total'),
  new_name: text.allow(null).example(null),
  old_type: text.allow(null).example('numeric(10,2)'),
  new_type: text.allow(null).example(null),
  level: level.example('high'),
  sentence: text.example('Dropping public.orders.total breaks 1 table, 1 check'),
  checks: Joi.array()
    .items(
      record({
        id: Joi.string(),
        kind: Joi.string().meta({ openapi: { 'x-words': 'declared_kind' } }),
        name: text,
        table_path: text,
        certainty,
      }).label('HitCheck'),
    )
    .description('Active checks of the table, or of the column.')
    .example([]),
  contracts: Joi.array()
    .items(record({ contract: text, title: text }).label('HitClause'))
    .description('Clauses of contracts about it.')
    .example([]),
  ...affected,
}).label('ChangeImpact')

const impact = exampleRecord({
  source: record({ id, name: text }).example({ id: ORDERS, name: 'shop' }),
  level: level.description('The worst of all changes.').example('high'),
  changes: Joi.array().items(changeImpact).example([]),
  unknown: Joi.array()
    .items(
      record({
        index: count.description('Its place in the request.'),
        change: Joi.string(),
        table: text.allow(null),
        schema: text.allow(null),
        column: text.allow(null),
        problem: text,
      }).label('UnknownChange'),
    )
    .description('Changes of what is not in the catalog, of which nothing is known.')
    .example([]),
}).label('Impact')

const owner = record({
  type: Joi.valid('user', 'team', 'email', 'name'),
  id: id.allow(null),
  name: text,
  email: Joi.string().allow(null),
})

const alertImpact = exampleRecord({
  alert_id: id.example('0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d99'),
  asset_id: id.allow(null).example(ORDERS),
  column: text.allow(null).description('The column that the alert is about.').example('total'),
  level: level.example('medium'),
  sentence: text.example('2 tables are made from it'),
  asset_owners: Joi.array().items(owner).description('The owners of the table itself.').example([]),
  ...affected,
}).label('AlertImpact')

export const replies = {
  impact: reply(inData(impact)),
  change: reply(inData(changeImpact)),
  alert: reply(inData(alertImpact)),
}
