/** A source with a table of orders, whose checks are run as they would have been at moments of October 2026. */
import { discover, makeWorldOn, type makeStage } from '../../../helpers/world.ts'

export const DAY_MS = 86_400_000
const FIRST = Date.UTC(2026, 9, 1)

/** A window of days, as bodies have it. */
export const DAILY = { time_column: 'placed', window: '1d' }

/** The start of a day of the test, which are counted from 0. */
export const dayStart = (day: number) => new Date(FIRST + day * DAY_MS)
export const textOf = (moment: Date) => moment.toISOString().slice(0, 19).replace('T', ' ')

/** @param columns of the table `orders`, beside its key and `total` */
export async function startShop(
  t: Parameters<typeof makeWorldOn>[0],
  stage: Awaited<ReturnType<typeof makeStage>>,
  columns: string,
) {
  const world = await makeWorldOn(t, stage, [
    `create table orders (id serial primary key, total int, ${columns})`,
  ])
  await discover(world)
  const { app, tenant, asset, source } = world
  const ask = (method: string, path: string, body?: object) =>
    tenant.ask(method, `/api/v1/sdk/${path.replace('{asset}', asset.id)}`, body)
  const [table] = await app.query('select id from tables where source_id = $1', [asset.id])
  return {
    ...world,
    ask,
    insert: (total: number | null, moment: Date) =>
      source.query(`insert into orders (total, placed) values (${total ?? 'null'}, '${textOf(moment)}')`),
    /** Runs the checks of the table as they would have run at a moment. */
    run: (at: Date) =>
      app.server.plugins.checks.runTable(tenant.companyId, String(table?.id), 'active', { at }),
    async make(path: 'metrics' | 'validity', body: object) {
      const made = await ask('POST', `${path}/{asset}`, { table_path: 'orders', ...body })
      if (made.status !== 201) throw new Error(JSON.stringify(made.body))
      return made.body.data as { id: string; uuid: string; window: string }
    },
  }
}
