import { v7 } from 'uuid'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { timeOf } from '../../server/database/now.ts'
import type { CatalogApi, Source, Table, TableContext } from '../catalog/api.ts'
import type { TableProfile } from './api.ts'
import { maskColumn } from './columns.ts'
import { Profile } from './models.ts'

/** Stores what a profile found. */
export async function saveProfile(
  trx: Transaction,
  { source, table }: TableContext,
  { rowCount, profiledRows, ...found }: Omit<TableProfile, 'id' | 'sourceId' | 'tableId' | 'profiledAt'>,
): Promise<Profile> {
  return await Profile.query(trx)
    .insert({
      ...found,
      id: v7(),
      sourceId: source.id,
      tableId: table.id,
      // The transaction may have waited for a lock: what follows profiles would miss one that is stored late.
      profiledAt: timeOf('clock_timestamp()'),
      rowCount: String(rowCount),
      profiledRows: String(profiledRows),
    })
    .returning('*')
}

/** What a stored profile may show now, whatever it might when it was measured. */
export interface ShownValues {
  /** Columns that are tagged as personal data. */
  masked: ReadonlySet<string>
  /** Whether values of rows may be shown at all. */
  showsValues: boolean
}

/** A table with its source, as far as it decides on what is shown. */
interface ShownTable {
  source: Pick<Source, 'tags' | 'queryAccessLevel'>
  table: Parameters<CatalogApi['personalColumns']>[0]['table']
}

/** What may be shown of the values of a table. */
export function shownValues(catalog: CatalogApi, { source, table }: ShownTable): ShownValues {
  return {
    masked: catalog.personalColumns({ source, table }),
    showsValues: source.queryAccessLevel === 'full',
  }
}

/** A stored profile as it may be shown now. */
export function readProfile(row: Profile, { masked, showsValues }: ShownValues): TableProfile {
  const { id, sourceId, tableId, profiledAt, isRowCountExact, isSampled, statements, milliseconds } = row
  const { profiledWindow } = row
  return {
    id,
    sourceId,
    tableId,
    profiledAt,
    isRowCountExact,
    isSampled,
    profiledWindow,
    statements,
    milliseconds,
    rowCount: Number(row.rowCount),
    profiledRows: Number(row.profiledRows),
    columns: row.columns.map(column =>
      masked.has(column.name) ? maskColumn(column) : showsValues ? column : { ...column, topValues: null },
    ),
  }
}

interface TaggedProfileRow {
  tableId: string
  profile: string
  sourceTags: string[]
  tags: string[]
  columnTags: Record<string, string[]>
  personalFromUpstream: Table['personalFromUpstream']
  queryAccessLevel: Source['queryAccessLevel']
}

/** The latest profile of each of some tables, as `server.plugins.profiles` gives them. */
export async function readLatest(
  catalog: CatalogApi,
  trx: Transaction,
  tableIds: readonly string[],
): Promise<Map<string, TableProfile>> {
  const found = await rows<TaggedProfileRow>(
    trx,
    `select t.id as table_id, p.id as profile, s.tags as source_tags, s.query_access_level, t.tags, t.column_tags,
       t.personal_from_upstream
     from tables t join sources s on s.company_id = t.company_id and s.id = t.source_id
     cross join lateral (
       select id from profiles p where p.company_id = t.company_id and p.table_id = t.id
       order by profiled_at desc, id desc limit 1) p
     where t.company_id = :companyId and t.id = any(cast(:tableIds as uuid[]))`,
    { companyId: companyOf(trx), tableIds },
  )
  const profiles = await Profile.query(trx).findByIds(found.map(({ profile }) => profile))
  const byId = new Map(profiles.map(profile => [profile.id, profile]))
  return new Map(
    found.flatMap(({ tableId, profile, sourceTags, queryAccessLevel, ...tagged }) => {
      const row = byId.get(profile)
      if (!row) return []
      const source = { tags: sourceTags, queryAccessLevel }
      const shown = shownValues(catalog, { source, table: { ...tagged, columns: row.columns } })
      return [[tableId, readProfile(row, shown)] as const]
    }),
  )
}
