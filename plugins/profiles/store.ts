import type { Server } from '@hapi/hapi'
import { v7 } from 'uuid'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { TableContext } from '../catalog/api.ts'
import type { ColumnProfile, TableProfile } from './api.ts'
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
      rowCount: String(rowCount),
      profiledRows: String(profiledRows),
    })
    .returning('*')
}

/** A stored profile as it may be shown now. @param masked columns that are tagged as personal data */
export function readProfile(row: Profile, masked: ReadonlySet<string>): TableProfile {
  const { id, sourceId, tableId, profiledAt, isRowCountExact, isSampled, statements, milliseconds } = row
  return {
    ...{ id, sourceId, tableId, profiledAt, isRowCountExact, isSampled, statements, milliseconds },
    rowCount: Number(row.rowCount),
    profiledRows: Number(row.profiledRows),
    columns: row.columns.map(column => (masked.has(column.name) ? maskColumn(column) : column)),
  }
}

/** A column without what shows values; a mean of one value is that value. */
export function maskColumn(column: ColumnProfile): ColumnProfile {
  const isLone = (column.count ?? 0) <= 1
  return {
    ...column,
    ...{ min: null, max: null, quantiles: null, topValues: null, isMasked: true },
    mean: isLone ? null : column.mean,
  }
}

interface TaggedProfileRow {
  tableId: string
  profile: string
  sourceTags: string[]
  tags: string[]
  columnTags: Record<string, string[]>
}

/** The latest profile of each of some tables, as `server.plugins.profiles` gives them. */
export async function readLatest(
  server: Server,
  trx: Transaction,
  tableIds: readonly string[],
): Promise<Map<string, TableProfile>> {
  const found = await rows<TaggedProfileRow>(
    trx,
    `select t.id as table_id, p.id as profile, s.tags as source_tags, t.tags, t.column_tags
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
    found.flatMap(({ tableId, profile, sourceTags, tags, columnTags }) => {
      const row = byId.get(profile)
      if (!row) return []
      const table = { tags, columnTags, columns: row.columns }
      const masked = server.plugins.catalog.personalColumns({ source: { tags: sourceTags }, table })
      return [[tableId, readProfile(row, masked)] as const]
    }),
  )
}
