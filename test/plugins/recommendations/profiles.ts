import type { Server } from '@hapi/hapi'
import type { ColumnProfile } from '../../../plugins/profiles/api.ts'

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
