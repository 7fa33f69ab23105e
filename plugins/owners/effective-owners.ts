/**
 * Who owns what, as it is in force. The most specific object with owners decides: the table, then the tags that the table
 * itself has, its schema, its source, and the tags of that. For the same object, what a person set goes before dbt, that
 * before OpenLineage, and that before comments. All owners that are left own the asset.
 */
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { TableFields } from '../catalog/api.ts'
import { OWNER_ORIGINS, type Owner, type OwnerOrigin } from './api.ts'
import type { Identity } from './people.ts'

/** An ownership that concerns an asset, with its owner. */
export interface ApplicableOwner {
  assetId: string
  ownershipId: string
  level: Level
  /** What the ownership is set for, of a tag or a schema; the qualified name of a source. */
  subject: string
  /** 1 where it is in force. */
  place: number
  origin: OwnerOrigin
  type: Owner['type']
  ownerId: string | null
  ownerName: string
  ownerEmail: string | null
}

/** `own` is set for the asset itself. */
type Level = 'own' | 'tag' | 'schema' | 'source'

/** Tables and sources. @param condition of their ids, in SQL, after the id */
const selectAssets = (condition: string) => `
  select t.id as asset_id, t.id as table_id, t.source_id, t.catalog_name, t.schema_name, t.tags, s.tags as source_tags,
         s.name as source_name
    from tables t join sources s on s.company_id = t.company_id and s.id = t.source_id
   where t.company_id = :company_id and t.id ${condition}
  union all
  select s.id, null, s.id, null, null, '{}', s.tags, s.name from sources s
   where s.company_id = :company_id and s.id ${condition}`

const ASKED_BY_ID = selectAssets('= any(cast(:ids as uuid[]))')

/**
 * CTEs that end in `ranked`: all ownerships that concern the assets that `asked` selects.
 * @param asked as `ASKED_BY_ID`
 * @param isHeld a condition on ownerships `o`, which is a column then
 */
function rankOwnerships(asked: string, isHeld = 'true'): string {
  const columns = `o.id as ownership_id, o.origin, o.user_id, o.team_id, o.email, o.name, ${isHeld} as is_held`
  return `asked as materialized (${asked}),
    candidate as (
      select a.asset_id, 1 as rank, 'own' as level, '' as subject, ${columns}
        from asked a join ownerships o on o.company_id = :company_id and o.table_id = a.table_id
      union all
      select a.asset_id, 2, 'tag', o.tag, ${columns}
        from asked a cross join lateral unnest(a.tags) as carried (tag)
        join ownerships o on o.company_id = :company_id and o.tag = carried.tag
      union all
      select a.asset_id, 3, 'schema', a.catalog_name || '.' || a.schema_name, ${columns}
        from asked a join ownerships o on o.company_id = :company_id and o.table_id is null
         and o.source_id = a.source_id and o.catalog_name = a.catalog_name and o.schema_name = a.schema_name
      union all
      select a.asset_id, 4, case when a.table_id is null then 'own' else 'source' end, a.source_name, ${columns}
        from asked a join ownerships o on o.company_id = :company_id and o.table_id is null
         and o.source_id = a.source_id and o.schema_name is null
      union all
      select a.asset_id, 5, 'tag', o.tag, ${columns}
        from asked a cross join lateral unnest(a.source_tags) as carried (tag)
        join ownerships o on o.company_id = :company_id and o.tag = carried.tag),
    ranked as (
      select c.*, cast(rank() over (partition by asset_id
               order by rank, array_position(array['${OWNER_ORIGINS.join(`', '`)}'], origin)) as int) as place
        from candidate c)`
}

/** The owners of assets with what they are called. @param condition on `r`, the ranked ownerships */
function ownersQuery(condition: string): string {
  return `with ${rankOwnerships(ASKED_BY_ID)}
    select r.asset_id, r.ownership_id, r.level, r.subject, r.place, r.origin,
           case when t.id is not null then 'team' when u.id is not null then 'user'
                when r.email is not null then 'email' else 'name' end as type,
           coalesce(t.id, u.id) as owner_id,
           coalesce(t.name, nullif(u.full_name, ''), u.email, r.email, r.name) as owner_name,
           coalesce(u.email, r.email) as owner_email
      from ranked r
      left join users u on u.company_id = :company_id and (u.id = r.user_id or u.email = r.email)
      left join teams t on t.company_id = :company_id and (t.id = r.team_id or lower(t.name) = lower(r.name))
     where ${condition} order by r.asset_id, r.rank, r.place, owner_name, r.ownership_id`
}

/** All ownerships that concern an asset, those in force first. */
export function listApplicable(trx: Transaction, assetId: string): Promise<ApplicableOwner[]> {
  return rows<ApplicableOwner>(trx, ownersQuery('true'), { company_id: companyOf(trx), ids: [assetId] })
}

/** The owners in force of tables and sources, by their ids; an asset without owners is missing. */
export async function readOwners(
  trx: Transaction,
  assetIds: readonly string[],
): Promise<Map<string, Owner[]>> {
  if (assetIds.length === 0) return new Map()
  const found = await rows<ApplicableOwner>(trx, ownersQuery('r.place = 1'), {
    company_id: companyOf(trx),
    ids: [...assetIds],
  })
  return groupOwners(found)
}

/** The field `owners` of the records of tables. */
export function ownerFields(companyId: string, tableIds: readonly string[]): TableFields<ApplicableOwner> {
  return {
    reading: {
      name: 'owners of tables',
      text: ownersQuery('r.place = 1'),
      bindings: { company_id: companyId, ids: [...tableIds] },
    },
    fieldsByTable(found) {
      const owners = groupOwners(found)
      return new Map(tableIds.map(id => [id, { owners: (owners.get(id) ?? []).map(presentOwner) }]))
    },
  }
}

/** Owners by asset; one who owns it twice, by user and by address, stands once. */
function groupOwners(found: readonly ApplicableOwner[]): Map<string, Owner[]> {
  const groups = Map.groupBy(found, ({ assetId }) => assetId)
  return new Map(
    [...groups].map(([assetId, own]) => [
      assetId,
      [
        ...new Map(
          own.map(each => [`${each.type} ${each.ownerId ?? each.ownerName}`, toOwner(each)]),
        ).values(),
      ],
    ]),
  )
}

export function toOwner({
  level,
  subject,
  origin,
  type,
  ownerId,
  ownerName,
  ownerEmail,
}: ApplicableOwner): Owner {
  return {
    type,
    id: ownerId,
    name: ownerName,
    email: type === 'team' ? null : ownerEmail,
    origin,
    inheritedFrom: level === 'own' ? null : { type: level, name: subject },
  }
}

/** An owner as replies have it. */
export function presentOwner({ inheritedFrom, ...owner }: Owner) {
  return { ...owner, inherited_from: inheritedFrom }
}

/** A condition on ownerships `o` that someone holds them; bindings as `identityBindings`. */
export const IS_HELD = `(o.user_id = any(cast(:identityIds as uuid[])) or o.team_id = any(cast(:identityIds as uuid[]))
  or o.email = any(cast(:emails as text[])) or lower(o.name) = any(cast(:names as text[])))`

export function identityBindings({ ids, emails, names }: Identity): Record<string, string[]> {
  return { identityIds: ids, emails, names }
}

/**
 * A SELECT of the `asset_id` of the tables and sources that someone owns, as it is in force, with `origin`, `level` and
 * `subject`; several where they own it twice. Its bindings are `company_id` and those of `identityBindings`.
 */
export const OWNED_ASSETS_QUERY = `with held as materialized (
    select o.* from ownerships o where o.company_id = :company_id and ${IS_HELD}),
  -- Apart from those of tables, of which there may be thousands to be looked at again for each table.
  broad as materialized (select * from held where table_id is null),
  reached as materialized (
    select table_id as id from held where table_id is not null
    union select t.id from broad h join tables t on t.company_id = :company_id
      and t.source_id = h.source_id and (h.schema_name is null
        or (t.catalog_name = h.catalog_name and t.schema_name = h.schema_name))
    union select source_id from broad where schema_name is null and source_id is not null
    union select t.id from tables t where t.company_id = :company_id
      and t.tags && array(select tag from broad where tag is not null)
    union select s.id from sources s where s.company_id = :company_id
      and s.tags && array(select tag from broad where tag is not null)
    union select t.id from sources s join tables t on t.company_id = :company_id and t.source_id = s.id
     where s.company_id = :company_id and s.tags && array(select tag from broad where tag is not null)),
  ${rankOwnerships(selectAssets('in (select id from reached)'), IS_HELD)}
  select asset_id, r.origin, level, subject from ranked r where place = 1 and is_held`
