import type { DemoDeps } from './deps.ts'
import { METRICS, REFERENCES, RULES } from './checks.ts'
import { asOf, findPeople, takeStep } from './past.ts'
import { PAST_FAULTS } from './past-faults.ts'
import { HISTORY_DAYS, type Shop } from './shop.ts'

const DAY_MS = 86_400_000
const REPORT_EVERY_DAYS = 20
/** Daily ones would take a third of the time of all checks. */
const DISCOVERED_EVERY_DAYS = 7

/** Tables whose checks have all of the shop's past; those of the others have the last weeks, which takes half the time. */
const LONG_PAST = ['orders', 'customers', 'page_views', 'stock_snapshots', 'partner_imports']
const SHORT_PAST_DAYS = 10

interface Replay {
  companyId: string
  sourceId: string
  shop: Shop
  now: Date
}

interface HistoryReplay extends Replay {
  /** The freshness schedule whose checks are replayed, too. */
  scheduleId: string
  /** Discovers the source. */
  discover(): Promise<void>
  /** Accepts the schema as it is. */
  acceptSchema(): Promise<unknown>
  report(line: string): void
}

/** Fills the shop up to yesterday, a day at a time, and runs its checks after each. */
export async function replayHistory(deps: DemoDeps, replay: HistoryReplay): Promise<void> {
  const { companyId, shop, now, report } = replay
  const tables = await listCheckedTables(deps, replay)
  const people = await findPeople(deps, companyId)
  for (let daysAgo = HISTORY_DAYS; daysAgo > 0; daysAgo--) {
    const fault = PAST_FAULTS.find(each => each.daysAgo === daysAgo)
    const names = tablesDue(daysAgo)
    const due = names ? tables.filter(({ name }) => names.includes(name)) : tables
    const at = new Date(now.getTime() - daysAgo * DAY_MS)
    const incidents = await asOf(deps, companyId, at, async () => {
      shop.addDay(daysAgo)
      if (fault) shop.run(fault.broken)
      // A change of the schema, which hits no checks, is found by the discovery of that day.
      const isDiscovered = daysAgo % DISCOVERED_EVERY_DAYS === 0 || fault?.tables.length === 0
      await Promise.all([isDiscovered && replay.discover(), runDay(deps, replay, due, at)])
    })
    for (const step of fault?.steps ?? [])
      await asOf(deps, companyId, new Date(at.getTime() + step.after * 60_000), async () => {
        if (step.acceptsSchema) await replay.acceptSchema()
        else
          for (const incident of incidents)
            await takeStep(deps, { companyId, incident, step, userId: people[step.by] })
      })
    if (fault?.repaired) shop.run(fault.repaired)
    const done = HISTORY_DAYS - daysAgo + 1
    if (done % REPORT_EVERY_DAYS === 0) report(`  ${done} of ${HISTORY_DAYS} days of checks`)
  }
}

/** The tables whose checks run on a day: also those that a fault hits, and the day after, which finds them mended. */
function tablesDue(daysAgo: number): string[] | null {
  if (daysAgo <= SHORT_PAST_DAYS) return null
  const hit = PAST_FAULTS.filter(fault => [daysAgo, daysAgo + 1].includes(fault.daysAgo))
  return [...LONG_PAST, ...hit.flatMap(({ tables }) => tables)]
}

async function runDay(
  deps: DemoDeps,
  replay: HistoryReplay,
  tables: readonly { id: string }[],
  at: Date,
): Promise<void> {
  const { companyId, sourceId, scheduleId } = replay
  await runChecks(deps, replay, tables, at)
  await deps.freshness.checkSource({ companyId, sourceId, scheduleIds: [scheduleId], at })
}

/** Fills the day of the faults, and runs the checks once more. */
export async function replayLastDay(deps: DemoDeps, replay: Replay): Promise<void> {
  replay.shop.addDay(0)
  await runChecks(deps, replay, await listCheckedTables(deps, replay), replay.now)
}

/** Runs the checks of tables as of a day, as many tables at once as the source takes sessions. */
async function runChecks(
  { checks }: DemoDeps,
  { companyId }: Replay,
  tables: readonly { id: string }[],
  at: Date,
): Promise<void> {
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
