import type { Edition } from './editions.ts'
import { anything, each, hasValue, list, oneOf, part, text, uri, when, whole } from './parts.ts'
import type { SchemaFields, Schema } from './parts.ts'

export const SFTP = '^sftp://'

/** The required and optional fields of a kind of server. */
interface Kind {
  must: SchemaFields
  may?: SchemaFields
}

const host = { host: text }
const port = { port: whole }
const database = { database: text }
const schema = { schema: text }
const address = { ...host, ...port }
const onHost: Kind = { must: { ...host, ...database }, may: port }
const onPort: Kind = { must: { ...address, ...database } }
const withSchema: Kind = { must: { ...address, ...database, ...schema } }

function kinds(edition: Edition): Record<string, Kind> {
  // Before 3.1, files had to have one of a few formats.
  const format = edition.isStrict ? text : oneOf('parquet', 'delta', 'json', 'csv')
  const delimiter = edition.isStrict ? text : oneOf('new_line', 'array')
  const staging: Kind = edition.since('v3.0.2')
    ? { must: { stagingDir: uri, ...schema } }
    : // The first two editions require another spelling than the documented one.
      { must: { staging_dir: anything, ...schema }, may: { stagingDir: uri } }
  const known: Record<string, Kind> = {
    api: { must: { location: uri } },
    athena: { must: staging.must, may: { ...staging.may, catalog: text, regionName: text } },
    azure: { must: { location: uri, format }, may: { delimiter } },
    bigquery: { must: { project: text, dataset: text } },
    clickhouse: onPort,
    databricks: { must: { catalog: text, ...schema }, may: host },
    denodo: { must: address, may: database },
    dremio: { must: address, may: schema },
    duckdb: { must: database, may: edition.isStrict ? schema : { schema: whole } },
    glue: { must: { account: text, ...database }, may: { location: uri, format: text } },
    cloudsql: withSchema,
    db2: { must: { ...address, ...database }, may: schema },
    informix: onHost,
    kafka: { must: host, may: { format: text } },
    kinesis: { must: {}, may: { region: text, format: text } },
    local: { must: { path: text, format: text } },
    mysql: onPort,
    oracle: { must: { ...address, serviceName: text } },
    postgresql: withSchema,
    postgres: withSchema,
    presto: { must: host, may: { catalog: text, ...schema } },
    pubsub: { must: { project: text } },
    redshift: { must: { ...database, ...schema }, may: { ...host, region: text, account: text } },
    s3: { must: { location: uri }, may: { endpointUrl: uri, format, delimiter } },
    sftp: { must: { location: { ...uri, pattern: SFTP } }, may: { format, delimiter } },
    snowflake: {
      must: { account: text, ...database, ...schema },
      may: { ...address, warehouse: text },
    },
    sqlserver: { must: { ...host, ...database, ...schema }, may: port },
    synapse: onPort,
    trino: { must: { ...address, catalog: text, ...schema } },
    vertica: withSchema,
    custom: { must: {}, may: custom(edition) },
  }
  return edition.isStrict ? { ...known, hive: onHost, impala: onHost, zen: onHost } : known
}

function custom({ isStrict }: Edition): SchemaFields {
  const texts = [
    'account',
    'catalog',
    'database',
    'dataset',
    'delimiter',
    'format',
    'host',
    'path',
    'project',
  ]
  const more = ['region', 'regionName', 'schema', 'serviceName', 'stagingDir', 'warehouse']
  return {
    ...each([...texts, ...more, ...(isStrict ? ['stream'] : [])], text),
    endpointUrl: uri,
    location: uri,
    ...port,
  }
}

export function server(edition: Edition): Schema {
  const known = kinds(edition)
  const common: SchemaFields = {
    ...edition.id,
    server: text,
    type: oneOf(...Object.keys(known)),
    description: text,
    environment: text,
    roles: list(part('role')),
    customProperties: part('customProperties'),
  }
  const commonOnly = each(Object.keys(common), anything)
  const cases = Object.entries(known).map(([type, { must, may }]) =>
    when(hasValue('type', type), edition.part({ ...commonOnly, ...may, ...must }, Object.keys(must))),
  )
  // The other fields depend on the type.
  return { type: 'object', properties: common, required: ['server', 'type'], allOf: cases }
}
