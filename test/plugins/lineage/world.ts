import { randomUUID } from 'node:crypto'
import type { SeenEdges, WalkOptions } from '../../../plugins/lineage/api.ts'
import type { TestServer, Tenant } from '../../helpers/server.ts'

/** A source with tables of these names and no rows in them. */
export async function addSource({ query }: TestServer, tenant: Tenant, names: readonly string[]) {
  const source = randomUUID()
  const name = `s${source.slice(0, 8)}`
  await query(
    `insert into sources (id, company_id, name, source_type, config) values ($1, $2, $3, 'sqlite', '{}')`,
    [source, tenant.companyId, name],
  )
  const ids = new Map(names.map(table => [table, randomUUID()]))
  await query(
    `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind,
       columns, constraints, fingerprint, column_count)
     select id, $1, $2, 'main', 'main', name, $5 || '.main.main.' || name, 'table', '[]', '[]', 'x', 0
       from unnest($3::uuid[], $4::text[]) as t (id, name)`,
    [tenant.companyId, source, [...ids.values()], [...ids.keys()], name],
  )
  return { source, name, ids }
}

/** Edges as texts: `a > b`, or `a.x > b.y, a.z ~> b.*` with columns, of which `~>` are indirect; `[c]` is outside. */
export function graphOf(app: TestServer, tenant: Tenant, ids: ReadonlyMap<string, string>) {
  const names = new Map([...ids].map(([name, id]) => [id, name]))
  const end = (text: string) =>
    text.startsWith('[')
      ? { outside: { kind: 'dashboard' as const, namespace: 'bi', name: text.slice(1, -1) } }
      : { tableId: ids.get(text) ?? randomUUID() }
  const parse = (text: string, detail: string) => {
    const columns = text.split(', ').map(pair => {
      const [, up = '', from, arrow, down = '', to] =
        /^(\[?\w+\]?)(?:\.(\w+))? (~?)> (\[?\w+\]?)(?:\.(\w+|\*))?$/.exec(pair) ?? []
      const kind = arrow ? ('indirect' as const) : ('direct' as const)
      return { up, down, pair: from && to ? { upstream: from, downstream: to, kind } : undefined }
    })
    const { up, down } = columns[0]!
    const pairs = columns.flatMap(({ pair }) => pair ?? [])
    return {
      upstream: end(up),
      downstream: end(down),
      detail,
      ...(pairs.length > 0 && { columns: pairs }),
    }
  }
  const nameOf = async (id: string) => {
    if (names.has(id)) return names.get(id)!
    const [node] = await app.query('select name from lineage_nodes where id = $1', [id])
    return `[${String(node?.name)}]`
  }
  return {
    record: (
      texts: readonly string[],
      { detail = '', ...seen }: Partial<SeenEdges> & { detail?: string } = {},
    ) =>
      app.server.db.company(tenant.companyId, trx =>
        app.server.plugins.lineage.recordEdges(trx, {
          origin: 'openlineage',
          sourceId: null,
          isComplete: false,
          ...seen,
          edges: texts.map(text => parse(text, detail)),
        }),
      ),
    /** Nodes as `b:1`, with columns `b:1(x y)`, where they are unknown `b:1(?)`. */
    async walk(from: string, options: WalkOptions) {
      const { nodes, edges, isComplete } = await app.server.db.company(tenant.companyId, trx =>
        app.server.plugins.lineage.walk(trx, [ids.get(from) ?? from], options),
      )
      const shown = await Promise.all(
        nodes.map(async ({ id, distance, columns }) => {
          const reached = options.columns ? `(${columns?.join(' ') ?? '?'})` : ''
          return `${await nameOf(id)}:${distance}${reached}`
        }),
      )
      return { nodes: shown.sort().join(', '), edges, isComplete }
    },
  }
}
