import { discover, makeWorldOn, type Stage } from '../../helpers/world.ts'

/** An earlier result as it is stored: 1,000 rows, of which `invalid` are. */
export interface Remembered {
  /** Epoch milliseconds. */
  at: number
  invalid: number
  was_active?: boolean
}

/**
 * A discovered table of 1,000 orders, in a source of its own on a server that others use too, with ways to make rules
 * on its emails and to give them a past.
 */
export async function pastRules(t: Parameters<typeof makeWorldOn>[0], stage: Stage) {
  const world = await makeWorldOn(t, stage, [
    `create table orders as select n as id, 'a@x.org' as email, 'new' as status from generate_series(1, 1000) n`,
  ])
  await discover(world)
  const { app, tenant, asset, source } = world
  const base = `/api/v1/sdk/validity/${asset.id}`
  const idOf = async (rule: string) =>
    (
      await app.query(
        `select r.id, r.table_id, r.baseline_after, s.state from checks r
         left join check_states s on s.check_id = r.id where r.uuid = $1`,
        [rule.slice(2)],
      )
    )[0]
  const results = async (rule: string) =>
    (await tenant.ask('GET', `${base}/${rule}/results?limit=1000`)).body.data.items
  return {
    ...world,
    base,
    results,
    /** Makes a rule, by default NOT_NULL on the email, and returns its public id. */
    async make(body: object): Promise<string> {
      const rule = { rule_type: 'NOT_NULL', table_path: 'orders', column_name: 'email', ...body }
      const made = await tenant.ask('POST', base, rule)
      if (made.status !== 201) throw new Error(JSON.stringify(made.body))
      return made.body.data.uuid as string
    },
    patch: (rule: string, body: object) => tenant.ask('PATCH', `${base}/${rule}`, body),
    /** Checks a rule now. */
    check: async (rule: string) => (await tenant.ask('POST', `${base}/${rule}/check`)).body.data,
    /** Lets all rules be checked as if at another time, and gives the result of one. */
    async checkAt(rule: string, at: number) {
      const { table_id: tableId } = (await idOf(rule)) ?? {}
      await app.server.plugins.checks.runTable(tenant.companyId, String(tableId), 'active', {
        at: new Date(at),
      })
      return (await results(rule))[0]
    },
    /** Makes the emails of so many of the orders NULL, and of no others. */
    spoil: (rows: number) =>
      source.query(`update orders set email = case when id > $1 then 'a@x.org' end`, [rows]),
    /** Stores results as if they had been taken then; nothing is learned of them yet. */
    async remember(rule: string, past: readonly Remembered[]) {
      const { id } = (await idOf(rule)) ?? {}
      await app.query(
        `insert into check_results (company_id, check_id, status, total_rows, details,
           value, duration_ms, at)
         select $1, $2, 'pass', 1000, jsonb_build_object('invalidCount', p.invalid, 'wasActive', p.was_active),
           p.invalid / 10.0, 1, to_timestamp(p.at / 1000.0)
         from jsonb_to_recordset($3) as p(at float8, invalid int, was_active boolean)`,
        [tenant.companyId, id, JSON.stringify(past)],
      )
    },
    /** What is stored of what a rule has learned. */
    learned: async (rule: string) => (await idOf(rule))?.state as object | null,
    alerts: () =>
      app.query(
        `select id, status, occurrences, cause, event from alerts where kind = 'validity_failure' order by created_at`,
      ),
    /** Makes an operating schedule and gives its id. */
    async schedule(body: object): Promise<string> {
      const made = await tenant.ask('POST', '/api/v1/operating-schedules', body)
      if (made.status !== 201) throw new Error(JSON.stringify(made.body))
      return made.body.id as string
    },
  }
}
