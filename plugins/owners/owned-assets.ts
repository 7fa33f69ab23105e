import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { Page } from '../../server/http/page.ts'
import { identityBindings, OWNED_ASSETS_QUERY } from './effective-owners.ts'
import { findPeople, identityOf } from './people.ts'

interface OwnedRow {
  id: string | null
  qualifiedName: string
  assetType: string
  origin: string
  level: 'own' | 'tag' | 'schema' | 'source'
  subject: string
  total: number
}

/**
 * One page of the tables in use and the sources that someone owns, by name; counted in the same statement.
 * @throws 400 on `owner`
 */
export async function listOwnedAssets(trx: Transaction, { owner, limit, offset }: Page & { owner: string }) {
  const [person] = await findPeople(trx, [owner], 'owner')
  const found = await rows<OwnedRow>(
    trx,
    `with owned as materialized (
       select distinct on (a.id) a.*, o.origin, o.level, o.subject
         from (${OWNED_ASSETS_QUERY}) o join (
           select id, qualified_name, kind as asset_type from tables where company_id = :company_id and is_active
           union all select id, name, 'source' from sources where company_id = :company_id) a on a.id = o.asset_id
        order by a.id, o.origin, o.level, o.subject),
     counted as (select cast(count(*) as int) as total from owned)
     select * from counted left join lateral (
       select * from owned order by qualified_name, id limit :limit offset :offset) page on true
      order by qualified_name, id`,
    { company_id: companyOf(trx), ...identityBindings(await identityOf(trx, person!)), limit, offset },
  )
  // Behind the last page there is the total alone.
  const assets = found.filter(({ id }) => id !== null).map(presentOwned)
  return { assets, total: found[0]?.total ?? 0 }
}

function presentOwned({ id, qualifiedName, assetType, origin, level, subject }: OwnedRow) {
  const inherited = level === 'own' ? null : { type: level, name: subject }
  return { id, qualified_name: qualifiedName, asset_type: assetType, origin, inherited_from: inherited }
}
