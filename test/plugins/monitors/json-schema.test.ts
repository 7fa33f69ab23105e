import { Ajv } from 'ajv'
import t from 'tap'
import { ENTRY_FIELDS, MONITORS_SCHEMA } from '../../../plugins/monitors/file/json-schema.ts'
import { MONITOR_KINDS, readDocument } from '../../../plugins/monitors/file/monitors-file.ts'
import { manifest } from '../../../server/manifest.ts'
import { describeSchema } from '../../../server/openapi/json-schema.ts'
import { startServer } from '../../helpers/server.ts'

const { server } = await startServer(t)
const validate = new Ajv({ allowUnionTypes: true }).compile(MONITORS_SCHEMA)

type Properties = Record<string, Record<string, unknown>>

/** The fields of the entries of a kind, as the schema has them. */
function entrySchema(kind: (typeof MONITOR_KINDS)[number]): Properties {
  const { properties } = MONITORS_SCHEMA.properties.tables.additionalProperties as unknown as {
    properties: { checks: { properties: Record<string, { items: { properties: Properties } }> } }
  }
  return properties.checks.properties[kind]!.items.properties
}

t.test('the schema has the fields of the API, with their defaults', async t => {
  for (const kind of MONITOR_KINDS) {
    const declared = server.plugins.checks.declaredKinds().find(checks => checks.kind === kind)!
    const keys = Object.entries(describeSchema(declared.body).keys ?? {}).filter(
      ([, { flags }]) => flags?.presence !== 'forbidden',
    )
    t.strictSame([...ENTRY_FIELDS[kind].fields].sort(), ['key', ...keys.map(([name]) => name)].sort(), kind)
    const required = keys.filter(([, { flags }]) => flags?.presence === 'required').map(([name]) => name)
    t.strictSame([...ENTRY_FIELDS[kind].required].sort(), required.sort(), kind)
    const properties = entrySchema(kind)
    for (const [name, { flags }] of keys) {
      if (flags?.default !== undefined && !Array.isArray(flags.default))
        t.equal(properties[name]?.default, flags.default, `${kind}.${name}`)
    }
  }
})

t.test('the schema names the types of checks that there are', async t => {
  const known = (family: string) =>
    manifest.checks.filter(check => check.family === family).map(({ name }) => name)
  const named = (kind: 'validity' | 'metric', field: string) =>
    (entrySchema(kind)[field]!.anyOf as [{ enum: string[] }])[0].enum
  t.strictSame(named('validity', 'rule_type').toSorted(), known('rule').toSorted())
  t.strictSame(named('metric', 'metric_type').toSorted(), known('metric').toSorted())
})

const file = (kind: string, entry: object) => ({
  version: 1,
  source: 'shop',
  tables: { orders: { checks: { [kind]: [entry] } } },
})

t.test('editor and reader accept and refuse the same', async t => {
  const good = [
    file('validity', { key: 'a', rule_type: 'ENUM', rule_config: { allowed_values: ['a', 1, true] } }),
    file('validity', { key: 'a', rule_type: 'RANGE', rule_config: { min: 0 } }),
    file('validity', { key: 'a', rule_type: 'OF_AN_EXTENSION', rule_config: { any: 1 } }),
    file('metric', { key: 'a', metric_type: 'percentile', percentile_value: 95, of_an_extension: 1 }),
    file('freshness', { key: 'a', sla_threshold: '24h' }),
    { version: 1, source: 'shop', tables: {} },
  ]
  for (const document of good) {
    t.ok(validate(document), JSON.stringify([document, validate.errors]))
    t.doesNotThrow(() => readDocument(document, 'file'))
  }
  const bad = [
    file('validity', { key: 'a' }),
    file('validity', { rule_type: 'UNIQUE' }),
    file('validity', { key: ' a', rule_type: 'UNIQUE' }),
    file('validity', { key: 'a', rule_type: 'UNIQUE', severty: 'info' }),
    file('freshnes', { key: 'a' }),
    { version: 2, source: 'shop', tables: {} },
    { version: 1, tables: {} },
    { version: 1, source: 'shop', tables: [] },
    [],
  ]
  for (const document of bad) {
    t.notOk(validate(document), JSON.stringify(document))
    t.throws(() => readDocument(document, 'file'), { name: 'MonitorsFileError' }, JSON.stringify(document))
  }
  const faultyConfig = file('validity', { key: 'a', rule_type: 'ENUM', rule_config: { allowed: [] } })
  t.notOk(validate(faultyConfig), 'an editor knows what the types ask for')
})
