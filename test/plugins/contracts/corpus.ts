/** Valid contracts of every version that is known, and ways to break them. */

import { fullV3 } from './corpus-v3.ts'

export type Contract = Record<string, unknown>
export const VERSIONS = ['v2.2.2', 'v3.0.0', 'v3.0.1', 'v3.0.2', 'v3.1.0'] as const
export type Version = (typeof VERSIONS)[number]

/** The least that a version takes. */
export function minimal(version: Version): Contract {
  if (version === 'v2.2.2') {
    return {
      apiVersion: version,
      kind: 'DataContract',
      uuid: '53581432-6c55-4ba2-a65f-72344a91553a',
      version: '1.0.0',
      type: 'tables',
      status: 'current',
      datasetName: 'orders',
      quantumName: 'orders',
      dataset: [],
    }
  }
  return { apiVersion: version, kind: 'DataContract', id: 'orders', version: '1.0.0', status: 'active' }
}

/** A contract that uses every field of its version. */
export function full(version: Version): Contract {
  return version === 'v2.2.2' ? fullV2() : fullV3(version)
}

/** Fields that hold any text. */
export const texts = (...names: string[]) => Object.fromEntries(names.map(name => [name, `a ${name}`]))

function fullV2(): Contract {
  const links = [{ url: 'https://example.com/terms', type: 'terms' }]
  const own = [{ property: 'FIELD_NAME', value: { any: 'thing' } }]
  const fields = ['datasetKind', 'userConsumptionMode', 'tenant', 'sourceSystem', 'sourcePlatform', 'server']
  const more = [
    'productSlackChannel',
    'productFeedbackUrl',
    'productDl',
    'username',
    'password',
    'driverVersion',
  ]
  const rest = ['driver', 'project', 'datasetDomain', 'database']
  const column = {
    ...texts('businessName', 'description', 'classification', 'encryptedColumnName', 'transformLogic'),
    column: 'id',
    isPrimaryKey: true,
    primaryKeyPosition: 1,
    logicalType: 'integer',
    physicalType: 'bigint',
    isNullable: false,
    isUnique: true,
    partitionStatus: true,
    partitionKeyPosition: 1,
    clusterStatus: true,
    clusterKeyPosition: 1,
    authoritativeDefinitions: links,
    transformSourceTables: ['raw_orders'],
    transformDescription: 'as it comes',
    sampleValues: ['1', '2'],
    criticalDataElementStatus: false,
    tags: ['key'],
  }
  const quality = {
    ...texts(
      'code',
      'templateName',
      'description',
      'toolName',
      'toolRuleName',
      'dimension',
      'type',
      'severity',
    ),
    ...texts('businessImpact', 'scheduleCronExpression'),
    column: 'id',
    columns: 'id',
    customProperties: own,
  }
  const table = {
    ...texts('priorTableName', 'description', 'dataGranularity'),
    table: 'orders',
    physicalName: 'orders_1',
    authoritativeDefinitions: links,
    columns: [column, { column: 'ordered_at', logicalType: 'timestamp', physicalType: 'timestamptz' }],
    quality: [quality],
  }
  return {
    ...minimal('v2.2.2'),
    ...texts(...fields, ...more, ...rest),
    tags: ['sales'],
    description: texts('usage', 'purpose', 'limitations'),
    dataset: [table],
    price: { priceAmount: 9.95, priceCurrency: 'USD', priceUnit: 'megabyte' },
    stakeholders: [texts('username', 'role', 'dateIn', 'dateOut', 'replacedByUsername')],
    roles: [texts('role', 'access', 'firstLevelApprovers', 'secondLevelApprovers')],
    slaDefaultColumn: 'orders.ordered_at',
    slaProperties: [
      {
        property: 'latency',
        value: 4,
        valueExt: '5',
        unit: 'd',
        column: 'orders.ordered_at',
        driver: 'regulatory',
      },
      { property: 'generalAvailability', value: '2022-05-12' },
    ],
  }
}

/** A contract with one change, and what was changed. */
export interface Mutation {
  change: string
  contract: Contract
}

const OTHERS: unknown[] = ['text', 7, 1.5, true, null, [], ['a'], {}, { a: 1 }, [1, 2, 3]]

/** Every contract that one change makes of this one: each field gone, each value another, a stranger in each object. */
export function* mutations(contract: Contract): Generator<Mutation> {
  for (const path of paths(contract)) {
    const where = `/${path.join('/')}`
    if (path.length > 0) {
      yield { change: `without ${where}`, contract: changed(contract, path, undefined) }
      for (const other of OTHERS) {
        yield { change: `${where} = ${JSON.stringify(other)}`, contract: changed(contract, path, other) }
      }
    }
    const value = path.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], contract)
    if (typeof value !== 'object' || value === null) continue
    if (Array.isArray(value)) {
      if (value.length > 0)
        yield { change: `${where} twice`, contract: changed(contract, path, [...value, value[0]]) }
    } else {
      yield {
        change: `${where} with a stranger`,
        contract: changed(contract, path, { ...value, stranger: 1 }),
      }
    }
  }
}

function* paths(value: unknown, at: string[] = []): Generator<string[]> {
  yield at
  if (typeof value !== 'object' || value === null) return
  for (const [step, item] of Object.entries(value)) yield* paths(item, [...at, step])
}

function changed(contract: Contract, path: readonly string[], value: unknown): Contract {
  const copy = structuredClone(contract)
  if (path.length === 0) return value as Contract
  const owner = path.slice(0, -1).reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], copy)
  const last = path.at(-1) as string
  if (value !== undefined) (owner as Record<string, unknown>)[last] = value
  else if (Array.isArray(owner)) owner.splice(Number(last), 1)
  else delete (owner as Record<string, unknown>)[last]
  return copy
}
