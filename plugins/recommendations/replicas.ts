import { pairTables } from '../../checks/comparison.ts'
import type { TableRef } from '../../connectors/catalog.ts'
import type { Connector } from '../../connectors/connector.ts'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { hasCode } from '../../server/http/errors.ts'
import type { CatalogApi, Source, Table } from '../catalog/api.ts'
import type { RecommendationsDeps } from './deps.ts'
import { primaryKeyOf, type ReplicaCandidate } from './rules/evidence.ts'

/** A name that more tables of a company have says nothing of what is in them. */
const MAX_NAMESAKES = 6

/** A table, and one of another source that has its name. */
interface Namesake {
  id: string
  otherId: string
  sourceName: string
  sourceType: string
}

/**
 * Finds the tables of other sources that have the names of some tables of a source. A pair is found once: for the table
 * whose source was added later, which is taken for the copy. Pairs that are compared the other way round are left out.
 * @returns the candidates by the id of the table
 */
export async function findReplicas(
  { catalog }: Pick<RecommendationsDeps, 'catalog'>,
  trx: Transaction,
  source: Source,
  tableIds: readonly string[],
): Promise<Map<string, ReplicaCandidate[]>> {
  const pairs = await rows<Namesake>(trx, NAMESAKES, {
    companyId: companyOf(trx),
    sourceId: source.id,
    tableIds: [...tableIds],
    most: MAX_NAMESAKES,
  })
  if (pairs.length === 0) return new Map()
  const ids = [...new Set(pairs.flatMap(({ id, otherId }) => [id, otherId]))]
  const tables = new Map((await catalog.loadTables(trx, ids)).map(table => [table.id, table]))
  const sideOf = ({ dialect, name }: Connector, table: Table) => ({
    table: catalog.tableInfo(table),
    dialect,
    engine: name,
  })
  const own = catalog.connectorOf(source)
  const found = new Map<string, ReplicaCandidate[]>()
  for (const { id, otherId, sourceName, sourceType } of pairs) {
    const [table, other, connector] = [
      tables.get(id)!,
      tables.get(otherId)!,
      findConnector(catalog, sourceType),
    ]
    if (!connector) continue
    const paired = pairTables(sideOf(own, table), sideOf(connector, other), { keys: [], columns: null })
    if ('message' in paired) continue
    const candidate = {
      sourceName,
      table: refOf(other),
      columns: other.columns.length,
      sharedColumns: paired.columns.map(({ left }) => left.name),
      primaryKey: primaryKeyOf(other),
    }
    found.set(id, [...(found.get(id) ?? []), candidate])
  }
  return found
}

/** The connector of a type of sources; undefined if no extension provides it any more. */
function findConnector({ connectorOf }: CatalogApi, sourceType: string): Connector | undefined {
  try {
    return connectorOf({ sourceType })
  } catch (error) {
    if (hasCode(error, 'CONFLICT')) return undefined
    throw error
  }
}

function refOf({ catalogName: catalog, schemaName: schema, name }: Table): TableRef {
  return { catalog, schema, name }
}

const NAMESAKES = `
  select t.id, o.id as other_id, r.name as source_name, r.source_type
    from tables t
    join sources s on s.company_id = :companyId and s.id = t.source_id
   cross join lateral (
     select n.id, n.source_id from tables n
      where n.company_id = :companyId and n.lower_name = t.lower_name and n.is_active and n.id <> t.id
      order by n.id limit :most) o
    join sources r on r.company_id = :companyId and r.id = o.source_id and r.is_active
     and r.query_access_level <> 'schema_only' and (r.created_at, r.id) < (s.created_at, s.id)
    join tables k on k.id = o.id and k.company_id = :companyId and k.kind = 'table'
   where t.company_id = :companyId and t.source_id = :sourceId and t.id = any(cast(:tableIds as uuid[]))
     and t.is_active and t.kind = 'table'
     and (select count(*) from (select 1 from tables n
            where n.company_id = :companyId and n.lower_name = t.lower_name and n.is_active limit :most) counted) < :most
     and not exists (select from checks c where c.company_id = :companyId and c.kind = 'comparison'
       and c.table_id = o.id and c.other_table_id = t.id)
   order by t.id, o.id`
