import type { DemoDeps } from './deps.ts'
import { METRICS, REFERENCES, RULES } from './checks.ts'
import { HISTORY_DAYS, type Shop } from './shop.ts'

const DAY_MS = 86_400_000
const REPORT_EVERY_DAYS = 20

/** Tables whose checks have all of the shop's past; those of the others have the last weeks, which takes half the time. */
const LONG_PAST = ['orders', 'customers', 'page_views', 'stock_snapshots', 'partner_imports']
const SHORT_PAST_DAYS = 14

interface Replay {
  companyId: string
  sourceId: string
  shop: Shop
  now: Date
}

/** Fills the shop up to yesterday, a day at a time, and runs its checks after each. */
export async function replayHistory(
  deps: DemoDeps,
  { report, ...replay }: Replay & { report(line: string): void },
): Promise<void> {
  const tables = await listCheckedTables(deps, replay)
  for (let daysAgo = HISTORY_DAYS; daysAgo > 0; daysAgo--) {
    replay.shop.addDay(daysAgo)
    const due = daysAgo > SHORT_PAST_DAYS ? tables.filter(({ name }) => LONG_PAST.includes(name)) : tables
    await runChecks(deps, replay, due, daysAgo)
    const done = HISTORY_DAYS - daysAgo + 1
    if (done % REPORT_EVERY_DAYS === 0) report(`  ${done} of ${HISTORY_DAYS} days of checks`)
  }
}

/** Fills the day of the faults, and runs the checks once more. */
export async function replayLastDay(deps: DemoDeps, replay: Replay): Promise<void> {
  replay.shop.addDay(0)
  await runChecks(deps, replay, await listCheckedTables(deps, replay), 0)
}

/** Runs the checks of tables as of a day, as many tables at once as the source takes sessions. */
async function runChecks(
  { checks }: DemoDeps,
  { companyId, now }: Replay,
  tables: readonly { id: string }[],
  daysAgo: number,
): Promise<void> {
  const at = new Date(now.getTime() - daysAgo * DAY_MS)
  await Promise.all(tables.map(({ id }) => checks.runTable(companyId, id, 'active', { at })))
}

async function listCheckedTables(
  { db, catalog }: DemoDeps,
  { companyId, sourceId }: Replay,
): Promise<{ id: string; name: string }[]> {
  const names = new Set([
    ...[...METRICS, ...RULES].map(watched => watched.table_path),
    ...REFERENCES.map(watched => String(watched.child_table_path)),
  ])
  return db.company(companyId, async trx => {
    const asset = await catalog.findAsset(trx, sourceId)
    const tables: { id: string; name: string }[] = []
    for (const name of names) tables.push({ id: (await catalog.findTable(trx, asset, name)).id, name })
    return tables
  })
}
