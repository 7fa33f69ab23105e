import type { Stage } from '../../../helpers/world.ts'
import { startShop, type Shop } from '../../../helpers/mariadb.ts'
import { discover } from '../../../helpers/world.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** A source that is discovered again and again. */
export interface Watched {
  /** Discovers once. @returns the job's result and the lines of the changes that it recorded */
  discover(): Promise<{ status: string; unread: string[]; changes: string[] }>
  /** Names of columns and constraints of a stored table. */
  stored(table: string): Promise<{ columns: string[]; constraints: string[]; error: string | null }>
  /** How many alerts of drift were raised for the source. */
  alerts(): Promise<number>
}

/** Makes a source of a stage and watches what its discoveries record. */
export async function watch(
  { app, tenant }: Stage,
  source: { name: string; type: string; config: object },
): Promise<Watched> {
  const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
    name: source.name,
    source_type: source.type,
    connection_config: source.config,
  })
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  const asset = made.body.data as { id: string }
  return {
    async discover() {
      // Ten discoveries an hour are not enough here.
      await app.query(`delete from rate_windows where name like $1`, [`%${asset.id}%`])
      const job = await discover({ app, tenant, asset })
      const rows = await app.query(
        `select change_type || ' ' || split_part(table_path, '.', 3) || '.' ||
           coalesce(new_value ->> 'name', old_value ->> 'name') as line
         from schema_changes where discovery_id = $1`,
        [job.job_id],
      )
      const unread = (job.result?.unread ?? []) as { table_path: string }[]
      return {
        status: String(job.status),
        unread: unread.map(({ table_path: path }) => path.split('.').at(-1) ?? '').toSorted(),
        changes: rows.map(row => String(row.line)).toSorted(),
      }
    },
    async stored(table) {
      const [row] = await app.query(
        `select jsonb_path_query_array(columns, '$.name') as columns,
           jsonb_path_query_array(constraints, '$.name') as constraints, read_error ->> 'code' as error
         from tables where source_id = $1 and name = $2`,
        [asset.id, table],
      )
      return row as unknown as Awaited<ReturnType<Watched['stored']>>
    },
    async alerts() {
      const [row] = await app.query(
        `select count(*)::int as count from alerts where source_id = $1 and kind = 'schema_change'`,
        [asset.id],
      )
      return Number(row?.count)
    },
  }
}

/** A MariaDB database with an account whose rights can be exchanged. */
export interface GrantedShop extends Shop {
  /** Replaces all rights of the account, each as `select (id) on b` or `select on *`. */
  grant(...rights: string[]): Promise<void>
}

export async function startGrantedShop(t: Teardown): Promise<GrantedShop> {
  const shop = await startShop(t)
  const account = shop.config.username
  return {
    ...shop,
    async grant(...rights) {
      await shop.query(`revoke all privileges, grant option from ${account}`)
      for (const right of rights)
        await shop.query(`grant ${right.replace(/ on /, ` on ${shop.name}.`)} to ${account}`)
    },
  }
}
