import type { Server } from '@hapi/hapi'
import type { ColumnProfile } from '../../../plugins/profiles/api.ts'
import type { TableEvidence } from '../../../plugins/recommendations/rules/evidence.ts'
import { indexParents } from '../../../plugins/recommendations/rules/references.ts'
import { suggestChecks } from '../../../plugins/recommendations/rules/suggest.ts'

/** The profile of a column of which only what is given is known. */
export function columnProfile(
  name: string,
  given: Partial<ColumnProfile> & Pick<ColumnProfile, 'kind'>,
): ColumnProfile {
  return {
    ...{ name, type: given.kind, count: 1_000, nulls: 0, distinct: 500, isDistinctExact: true },
    ...{ min: null, max: null, mean: null, stddev: null, quantiles: null },
    ...{ minLength: null, maxLength: null, meanLength: null, topValues: null, pattern: null },
    ...{ isKeyCandidate: false, isMasked: false },
    ...given,
  }
}

/** The id of `tableOf`. */
export const TABLE_ID = '0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'

/** A table with a profile of all of its rows. */
export function tableOf(
  columns: ColumnProfile[],
  given: Partial<TableEvidence> = {},
  rows = 1_000,
): TableEvidence {
  return {
    ...{ id: TABLE_ID, catalog: 'c', schema: 's', name: 'orders', kind: 'table' },
    columns: columns.map(({ name, type, kind }) => ({ name, type, kind })),
    ...{ constraints: [], columnTags: {}, estimatedRows: null, dependents: 0 },
    profile: {
      ...{
        id: TABLE_ID,
        sourceId: TABLE_ID,
        tableId: TABLE_ID,
        profiledAt: new Date(),
        rowCount: rows,
        isRowCountExact: true,
      },
      ...{
        profiledRows: rows,
        isSampled: false,
        profiledWindow: null,
        statements: 2,
        milliseconds: 5,
        columns,
      },
    },
    ...given,
  }
}

/** The checks that are suggested of a table beside its row count, with their columns. */
export const typesOf = (table: TableEvidence, others: TableEvidence[] = [], least = 0.8) =>
  suggestChecks(
    table,
    indexParents([table, ...others]),
    new Map(others.flatMap(({ id, profile }) => (profile ? [[id, profile] as const] : []))),
  )
    .filter(({ confidence, type }) => confidence >= least && type !== 'row_count')
    .map(({ type, column }) => `${type} ${column}`)

interface StoredProfile {
  companyId: string
  sourceId: string
  table: string
  rows: number
  columns: ColumnProfile[]
  isSampled?: boolean
}

/** Stores a profile of a table, as if it had been measured. */
export async function storeProfile(
  server: Server,
  { companyId, sourceId, table, rows, columns, isSampled = false }: StoredProfile,
): Promise<void> {
  await server.db.system(trx =>
    trx.raw(
      `insert into profiles (id, company_id, source_id, table_id, row_count, is_row_count_exact, profiled_rows, is_sampled,
         statements, milliseconds, columns)
       select gen_random_uuid(), :companyId, :sourceId, id, :rows, true, :rows, :isSampled, 2, 10, cast(:columns as jsonb)
       from tables where source_id = :sourceId and name = :table`,
      { companyId, sourceId, table, rows, isSampled, columns: JSON.stringify(columns) },
    ),
  )
}
