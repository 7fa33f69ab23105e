import type { BigqueryField } from '../../../connectors/bigquery/values.ts'
import type { WarehouseResult } from '../warehouse.ts'
import { checkColumnName } from './ddl.ts'
import { BigqueryFailure } from './tokens.ts'

/** BigQuery's names of types in results, by DuckDB's; the old names, as replies still have them. */
const TYPES: Readonly<Record<string, string>> = {
  BOOLEAN: 'BOOLEAN',
  INTEGER: 'INTEGER',
  BIGINT: 'INTEGER',
  HUGEINT: 'INTEGER',
  DOUBLE: 'FLOAT',
  VARCHAR: 'STRING',
  BLOB: 'BYTES',
  DATE: 'DATE',
  TIME: 'TIME',
  TIMESTAMP: 'DATETIME',
  'TIMESTAMP WITH TIME ZONE': 'TIMESTAMP',
  JSON: 'JSON',
  '"NULL"': 'INTEGER',
  SQLNULL: 'INTEGER',
}

/** A result as replies have it: a schema, and rows of texts. */
export interface WireResult {
  fields: BigqueryField[]
  rows: { f: { v: string | null }[] }[]
}

/** Writes a result of DuckDB as BigQuery does. */
export function wireResult({ columns, rows }: WarehouseResult): WireResult {
  const seen = new Set<string>()
  const fields = columns.map(({ name, type }): BigqueryField => {
    checkColumnName(name)
    if (seen.has(name.toLowerCase()))
      throw new BigqueryFailure(
        400,
        'invalidQuery',
        `Duplicate column names in the result are not supported: ${name}`,
      )
    seen.add(name.toLowerCase())
    return { name, type: wireType(type), mode: 'NULLABLE' }
  })
  const write = (value: string | null, index: number) => ({
    v: value === null ? null : wireValue(fields[index]?.type ?? '', value),
  })
  return { fields, rows: rows.map(row => ({ f: row.map(write) })) }
}

function wireType(type: string): string {
  return type.startsWith('DECIMAL') ? 'NUMERIC' : (TYPES[type] ?? `no BigQuery type for ${type}`)
}

function wireValue(type: string, value: string): string {
  switch (type) {
    case 'BYTES':
      return Buffer.from(value, 'hex').toString('base64')
    case 'TIMESTAMP':
      return `${Date.parse(value.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))}000`
    case 'DATETIME':
      return value.replace(' ', 'T')
    // Without zeros at the end, as BigQuery prints NUMERIC.
    case 'NUMERIC':
      return value.includes('.') ? value.replace(/\.?0+$/, '') : value
    case 'FLOAT':
      return value === 'inf' ? 'Infinity' : value === '-inf' ? '-Infinity' : value === 'nan' ? 'NaN' : value
    default:
      return value
  }
}
