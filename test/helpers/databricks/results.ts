import type { WarehouseResult } from '../warehouse.ts'

/** A column of a manifest's schema. */
export interface ManifestColumn {
  name: string
  position: number
  type_text: string
  type_name: string
}

const TYPES: Record<string, [text: string, name: string]> = {
  TINYINT: ['TINYINT', 'BYTE'],
  SMALLINT: ['SMALLINT', 'SHORT'],
  INTEGER: ['INT', 'INT'],
  BIGINT: ['BIGINT', 'LONG'],
  // What DuckDB adds integers up to; Databricks stays with BIGINT.
  HUGEINT: ['BIGINT', 'LONG'],
  UBIGINT: ['BIGINT', 'LONG'],
  FLOAT: ['FLOAT', 'FLOAT'],
  DOUBLE: ['DOUBLE', 'DOUBLE'],
  BOOLEAN: ['BOOLEAN', 'BOOLEAN'],
  DATE: ['DATE', 'DATE'],
  'TIMESTAMP WITH TIME ZONE': ['TIMESTAMP', 'TIMESTAMP'],
  TIMESTAMP: ['TIMESTAMP_NTZ', 'TIMESTAMP'],
  BLOB: ['BINARY', 'BINARY'],
  JSON: ['VARIANT', 'USER_DEFINED_TYPE'],
}

/** The schema of a result as in a manifest. */
export function columnsOf({ columns }: WarehouseResult): ManifestColumn[] {
  return columns.map(({ name, type }, position) => {
    const [text, base] =
      TYPES[type] ?? (type.startsWith('DECIMAL') ? [type, 'DECIMAL'] : ['STRING', 'STRING'])
    return { name, position, type_text: text, type_name: base }
  })
}

/** The rows of a result as JSON_ARRAY writes them. */
export function rowsOf({ columns, rows }: WarehouseResult): (string | null)[][] {
  return rows.map(row =>
    row.map((text, index) => (text === null ? null : written(text, columns[index]?.type ?? ''))),
  )
}

function written(text: string, type: string): string {
  if (type === 'DOUBLE' || type === 'FLOAT') return floating(Number(text))
  if (type === 'BLOB') return Buffer.from(text, 'hex').toString('base64')
  if (type.startsWith('TIMESTAMP')) return moment(text)
  return text
}

/** As Java writes doubles. */
function floating(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  const size = Math.abs(value)
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) {
    return value
      .toExponential()
      .replace(/^(-?\d)(?=e)/, '$1.0')
      .replace('e+', 'E')
      .replace('e', 'E')
  }
  return Number.isInteger(value) ? `${Object.is(value, -0) ? '-0' : value}.0` : String(value)
}

/** `2024-02-29T12:34:56.000Z`; without the Z where there was no zone. */
function moment(text: string): string {
  const [, day = '', time = '', fraction = '', zone] =
    /^(\S+) (\d\d:\d\d:\d\d)(\.\d+)?(\+00)?$/.exec(text) ?? []
  return `${day}T${time}${fraction === '' ? '.000' : fraction.padEnd(4, '0')}${zone === undefined ? '' : 'Z'}`
}
