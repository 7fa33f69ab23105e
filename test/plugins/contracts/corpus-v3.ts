import { minimal, texts, VERSIONS, type Contract, type Version } from './corpus.ts'

/** A version of ODCS 3. */
export type Minor = Exclude<Version, 'v2.2.2'>
const since = (version: Minor, first: Minor) => VERSIONS.indexOf(version) >= VERSIONS.indexOf(first)

/** A contract of version 3 that uses every field. */
export function fullV3(version: Minor): Contract {
  const isStrict = version === 'v3.1.0'
  const id = (name: string) => (isStrict ? { id: name } : {})
  const described = isStrict ? { description: 'in words' } : {}
  const own = [
    { ...id('own'), property: 'owner', value: { any: ['thing', 1, null] }, ...described },
    { property: 'cost', value: null },
  ]
  const links = [{ ...id('terms'), url: 'https://example.com/terms', type: 'terms', ...described }]
  const linked = since(version, 'v3.0.1') ? { authoritativeDefinitions: links } : {}
  const owned = since(version, 'v3.0.1') ? { customProperties: own } : {}
  const role = {
    ...id('reader'),
    ...texts('role', 'description', 'access', 'firstLevelApprovers', 'secondLevelApprovers'),
    ...owned,
  }
  const called = since(version, 'v3.0.2') ? texts('name', 'description') : {}
  const member = {
    ...id('ann'),
    ...called,
    username: 'ann',
    role: 'owner',
    dateIn: '2022-08-02',
    dateOut: '2024-02-29',
    replacedByUsername: 'bob',
    ...(isStrict && { tags: ['team'], customProperties: own, authoritativeDefinitions: links }),
  }
  const team = isStrict
    ? {
        id: 'sales',
        ...called,
        members: [member],
        tags: ['team'],
        customProperties: own,
        authoritativeDefinitions: links,
      }
    : [member]
  const agreement = {
    ...id('fresh'),
    property: 'latency',
    value: 4,
    valueExt: '5',
    unit: 'd',
    element: 'orders.id',
    driver: 'regulatory',
    ...(isStrict && { ...texts('description', 'scheduler', 'schedule') }),
  }
  return {
    ...minimal(version),
    ...texts('name', 'tenant', 'domain'),
    tags: ['sales', 'daily'],
    ...(!isStrict && { dataProduct: 'orders', slaDefaultElement: 'orders.id' }),
    description: { ...texts('usage', 'purpose', 'limitations'), ...linked, ...owned },
    servers: servers(version).map((server, index) => ({
      ...id(`server-${index}`),
      description: 'where it is',
      environment: 'prod',
      roles: [role],
      customProperties: own,
      ...server,
      server: `server-${index}`,
    })),
    schema: objects(version, { own, links }),
    support: [
      {
        ...id('help'),
        ...texts('channel', 'url', 'description', 'tool', 'scope', 'invitationUrl'),
        ...(isStrict && { customProperties: own }),
      },
    ],
    price: { ...id('price'), priceAmount: 9.95, priceCurrency: 'USD', priceUnit: 'megabyte' },
    team,
    roles: [role],
    slaProperties: [
      agreement,
      { property: 'availability', value: true },
      { property: 'endOfLife', value: null },
      { property: 'retention', value: '3', valueExt: null },
    ],
    ...linked,
    customProperties: own,
    contractCreatedTs: '2024-02-29T12:30:00Z',
  }
}

function objects(version: Minor, { own, links }: { own: object[]; links: object[] }): object[] {
  const isStrict = version === 'v3.1.0'
  const id = (name: string) => (isStrict ? { id: name } : {})
  const bound = (value: unknown) => (isStrict ? value : true)
  const common = {
    ...texts('physicalType', 'description', 'businessName'),
    authoritativeDefinitions: links,
    tags: ['key'],
    customProperties: own,
  }
  const range = (low: unknown, high: unknown) => ({
    minimum: low,
    maximum: high,
    exclusiveMinimum: bound(low),
    exclusiveMaximum: bound(high),
  })
  const property = {
    ...common,
    ...id('orders-id'),
    name: 'id',
    primaryKey: true,
    primaryKeyPosition: 1,
    logicalType: 'integer',
    logicalTypeOptions: { ...range(1, 9), multipleOf: 1, format: 'u64' },
    ...(since(version, 'v3.0.2') && { physicalName: 'id_1' }),
    required: true,
    unique: true,
    partitioned: true,
    partitionKeyPosition: 1,
    classification: 'public',
    encryptedName: 'id_encrypted',
    transformSourceObjects: ['raw_orders'],
    ...texts('transformLogic', 'transformDescription'),
    examples: [1, 'two', null, true, [3], { four: 4 }],
    criticalDataElement: true,
    ...(isStrict && {
      relationships: [
        { type: 'foreignKey', to: 'orders.amount', customProperties: own },
        { to: ['schema/orders-1/properties/orders-id'] },
        { to: 'https://example.com/other.yaml#/schema/a/properties/b' },
      ],
    }),
    quality: rules(version, { own, links }),
  }
  const zoned = { ...range('09:00', '17:00'), format: 'HH:mm', timezone: true, defaultTimezone: 'Etc/UTC' }
  const inside = [{ name: 'street', logicalType: 'string' }, { name: 'city' }]
  const typed = [
    {
      name: 'code',
      logicalType: 'string',
      logicalTypeOptions: { minLength: 1, maxLength: 9, pattern: '^a', format: 'uuid' },
    },
    {
      name: 'day',
      logicalType: 'date',
      logicalTypeOptions: { ...range('2020-01-01', '2030-01-01'), format: 'yyyy-MM-dd' },
    },
    {
      name: 'amount',
      logicalType: 'number',
      logicalTypeOptions: { ...range(0.5, 9.5), multipleOf: 0.1, format: 'f64' },
    },
    { name: 'isPaid', logicalType: 'boolean' },
    {
      name: 'address',
      logicalType: 'object',
      logicalTypeOptions: { minProperties: 1, maxProperties: 9, required: ['street'] },
      properties: inside,
    },
    {
      name: 'lines',
      logicalType: 'array',
      logicalTypeOptions: { minItems: 1, maxItems: 9, uniqueItems: true },
      items: { logicalType: 'object', properties: inside },
    },
    { name: 'open', properties: inside, items: { logicalType: 'array', items: { logicalType: 'string' } } },
    { name: 'empty', logicalTypeOptions: {} },
    ...(isStrict
      ? [
          { name: 'at', logicalType: 'timestamp', logicalTypeOptions: zoned },
          { name: 'opens', logicalType: 'time', logicalTypeOptions: zoned },
        ]
      : [{ name: 'loose', logicalType: 'array', items: { logicalType: 'string', properties: inside } }]),
  ]
  const between = [
    { from: 'orders.id', to: 'orders.amount', type: 'foreignKey', customProperties: own },
    { from: ['orders.id', 'orders.day'], to: ['orders.amount', 'orders.day'] },
  ]
  return [
    {
      ...common,
      ...id('orders-1'),
      name: 'orders',
      logicalType: 'object',
      physicalName: 'orders_1',
      dataGranularityDescription: 'one a line',
      properties: [property, ...typed],
      ...(isStrict && { relationships: between }),
      quality: isStrict
        ? [{ metric: 'rowCount', mustBeBetween: [1, 9] }]
        : [{ rule: 'rowCount', mustBeBetween: [1, 9] }],
    },
    { name: 'nothing' },
  ]
}

function rules(version: Minor, { own, links }: { own: object[]; links: object[] }): object[] {
  const isStrict = version === 'v3.1.0'
  const said = {
    ...(isStrict && { id: 'rule' }),
    ...texts('businessImpact', 'description', 'method', 'name', 'schedule', 'scheduler', 'severity', 'unit'),
    authoritativeDefinitions: links,
    customProperties: own,
    dimension: 'completeness',
    tags: ['check'],
    type: 'library',
  }
  const sql = { type: 'sql', query: 'select 1' }
  const others = [
    { type: 'text', description: 'in words' },
    { type: 'custom', engine: 'soda', implementation: 'type: duplicate_percent' },
    { type: 'custom', engine: 'soda', implementation: { type: 'duplicate_percent' } },
  ]
  if (!isStrict) {
    const all = {
      mustBe: 0,
      mustNotBe: 'x',
      mustBeGreaterThan: 1,
      mustBeGreaterOrEqualTo: 1,
      mustBeLessThan: 2,
    }
    const rest = { mustBeLessOrEqualTo: 2, mustBeBetween: [1, 2], mustNotBeBetween: [3, 4] }
    return [
      { ...said, rule: 'nullCheck', ...all, ...rest },
      { rule: 'nullCheck' },
      { ...sql, mustBe: 1 },
      ...others,
    ]
  }
  return [
    { ...said, metric: 'nullValues', mustBe: 0 },
    { metric: 'missingValues', arguments: { missingValues: [null, ''] }, mustNotBe: 'x' },
    { metric: 'invalidValues', rule: 'validCheck', mustBeGreaterThan: 1 },
    { metric: 'duplicateValues', mustBeGreaterOrEqualTo: 1 },
    { metric: 'nullValues', mustBeLessThan: 1 },
    { metric: 'nullValues', mustBeLessOrEqualTo: 1 },
    { metric: 'nullValues', mustNotBeBetween: [0, 1] },
    { ...sql, mustBeBetween: [0, 1] },
    { ...sql, metric: 'nullValues', mustBe: 1 },
    ...others,
    {},
  ]
}

/** One server of each type with all that it may say. */
function servers(version: Minor): Contract[] {
  const isStrict = version === 'v3.1.0'
  const at = { host: 'db.example.com', port: 5432 }
  const database = 'shop'
  const schema = 'public'
  const location = 's3://bucket/orders/*.json'
  const file = { format: 'json', delimiter: 'new_line' }
  const staging = since(version, 'v3.0.2')
    ? { stagingDir: 's3://bucket/staging' }
    : { staging_dir: 's3://bucket/staging', stagingDir: 's3://bucket/staging' }
  const own = texts(
    'account',
    'catalog',
    'database',
    'dataset',
    'delimiter',
    'format',
    'host',
    'path',
    'project',
  )
  const more = texts('region', 'regionName', 'schema', 'serviceName', 'stagingDir', 'warehouse')
  const on = { ...at, database }
  const full = { ...on, schema }
  const known: Record<string, object> = {
    api: { location },
    athena: { ...staging, schema, catalog: 'c', regionName: 'eu' },
    azure: { location, ...file },
    bigquery: { project: 'p', dataset: 'd' },
    clickhouse: on,
    databricks: { catalog: 'c', schema, host: 'h' },
    denodo: on,
    dremio: { ...at, schema },
    duckdb: { database, schema: isStrict ? schema : 1 },
    glue: { account: '1', database, location, format: 'parquet' },
    cloudsql: full,
    db2: full,
    informix: on,
    kafka: { host: 'k', format: 'avro' },
    kinesis: { region: 'eu', format: 'json' },
    local: { path: './orders', format: 'csv' },
    mysql: on,
    oracle: { ...at, serviceName: 'ORCL' },
    postgresql: full,
    postgres: full,
    presto: { host: 'h', catalog: 'c', schema },
    pubsub: { project: 'p' },
    redshift: { database, schema, host: 'h', region: 'eu', account: '1' },
    s3: { location, endpointUrl: 'https://minio.example.com', ...file },
    sftp: { location: 'sftp://example.com/orders', ...file },
    snowflake: { ...full, account: '1', warehouse: 'w' },
    sqlserver: full,
    synapse: on,
    trino: { ...at, catalog: 'c', schema },
    vertica: full,
    custom: {
      ...own,
      ...more,
      port: 1,
      endpointUrl: 'https://example.com',
      location,
      ...(isStrict && { stream: 's' }),
    },
    ...(isStrict && { hive: on, impala: on, zen: on }),
  }
  return Object.entries(known).map(([type, said]) => ({ type, ...said }))
}
