import { Ajv } from 'ajv'
import t from 'tap'
import { readVocabulary } from '../../../plugins/monitors/command/offline-vocabulary.ts'
import { monitorsSchema } from '../../../plugins/monitors/file/json-schema.ts'
import { readDocument } from '../../../plugins/monitors/file/monitors-file.ts'
import { makeDescribeFault } from '../../../plugins/monitors/import/applicable.ts'
import { describeSchema, type JsonSchema } from '../../../server/openapi/json-schema.ts'
import { readConfig } from '../../../server/settings/config.ts'

/** With a kind of an extension. */
const config = readConfig({ EXTENSIONS: './test/helpers/extensions/row-budget/index.ts' })
const vocabulary = await readVocabulary(config)
const { kinds } = vocabulary
const schema = monitorsSchema(vocabulary)
const describeFault = makeDescribeFault(vocabulary)
const validate = new Ajv({ allowUnionTypes: true, strictRequired: false }).compile(schema)

const file = (kind: string, entry: object) => ({
  version: 1,
  source: 'shop',
  tables: { orders: { checks: { [kind]: [entry] } } },
})

/** The example of the body of a kind, less what a file says elsewhere. */
function exampleOf(kind: string): Record<string, unknown> {
  const { body } = kinds.find(each => each.kind === kind)!
  const { keys = {}, examples: [example] = [{}] } = describeSchema(body)
  const given = Object.entries(example as Record<string, unknown>)
  return Object.fromEntries(given.filter(([name]) => keys[name]?.flags?.presence !== 'forbidden'))
}

const VALUES = [null, true, 0, 1, -1, 1.5, 1e9, '', ' ', 'text', 'x'.repeat(20_000), [], [1], {}, { a: 1 }]

t.test('editor and apply accept and refuse the same values of every field, of extensions too', async t => {
  t.ok(kinds.some(({ kind }) => kind === 'row_budget'))
  for (const { kind, body } of kinds) {
    const example = exampleOf(kind)
    t.ok(validate(file(kind, { key: 'a', ...example })), `${kind}: ${JSON.stringify(validate.errors)}`)
    for (const field of [...Object.keys(describeSchema(body).keys ?? {}), 'unknown_field'])
      for (const value of VALUES) {
        const entry = { ...example, [field]: value }
        const fault = describeFault({ kind, table: 'orders', body: entry })
        const what = `${kind}.${field} = ${JSON.stringify(value).slice(0, 30)}: ${fault}`
        t.equal(validate(file(kind, { key: 'a', ...entry })), fault === null, what)
      }
  }
})

t.test('editor and apply ask for the same fields of every rule type', t => {
  const configs: [string, object][] = [
    ['ENUM', { allowed_values: ['a', 1, true] }],
    ['RANGE', { min: 0 }],
    ['RANGE', { max: '2024-12-31' }],
    ['REGEX', { pattern: '^a' }],
    ['DATE_FORMAT', { format: 'YYYY-MM-DD' }],
    ['CUSTOM_SQL', { sql_expression: 'total > 0', value_unit: 'rows' }],
  ]
  for (const [rule_type, good] of configs)
    for (const rule_config of [good, {}, null, { other: 1 }, { ...good, other: 1 }]) {
      const body = { rule_type, column_name: 'a', rule_config }
      const fault = describeFault({ kind: 'validity', table: 'orders', body })
      t.equal(fault === null, rule_config === good, `${rule_type} ${JSON.stringify(rule_config)}: ${fault}`)
      t.equal(validate(file('validity', { key: 'a', ...body })), fault === null, rule_type)
    }
  const ofExtension = { key: 'a', rule_type: 'OF_AN_EXTENSION', rule_config: { any: 1 } }
  t.ok(validate(file('validity', ofExtension)), 'an editor need not know the types of extensions')
  t.end()
})

t.test('editor and reader accept and refuse the same form', t => {
  const metric = { key: 'a', metric_type: 'percentile', percentile_value: 95 }
  const good = [file('metric', metric), { version: 1, source: 'shop', tables: {} }]
  for (const document of good) {
    t.ok(validate(document), JSON.stringify([document, validate.errors]))
    t.doesNotThrow(() => readDocument(document, 'file', { kinds: kinds.map(({ kind }) => kind) }))
  }
  const bad = [
    file('validity', { rule_type: 'UNIQUE' }),
    file('validity', { key: ' a', rule_type: 'UNIQUE' }),
    file('freshnes', { key: 'a' }),
    { version: 2, source: 'shop', tables: {} },
    { version: 1, tables: {} },
    { version: 1, source: 'shop', tables: [] },
    [],
  ]
  for (const document of bad) {
    t.notOk(validate(document), JSON.stringify(document))
    const read = () => readDocument(document, 'file', { kinds: kinds.map(({ kind }) => kind) })
    t.throws(read, { name: 'MonitorsFileError' }, JSON.stringify(document))
  }
  t.end()
})

t.test('the schema has the defaults, and completes the names of types', t => {
  const fieldsOf = (kind: string) => {
    const { properties } = schema as { properties: { tables: { additionalProperties: JsonSchema } } }
    const table = properties.tables.additionalProperties as {
      properties: { checks: { properties: Record<string, { items: { properties: object } }> } }
    }
    return table.properties.checks.properties[kind]!.items.properties
  }
  t.match(fieldsOf('validity'), { severity: { default: 'warning' }, detection_mode: { default: 'manual' } })
  t.match(fieldsOf('validity'), { rule_type: { anyOf: [{ enum: ['NOT_NULL'] }, { type: 'string' }] } })
  t.match(fieldsOf('metric'), { metric_type: { anyOf: [{ enum: ['row_count'] }, { type: 'string' }] } })
  t.end()
})
