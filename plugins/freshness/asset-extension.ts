import type { AssetExtension } from '../catalog/api.ts'
import { readFreshnessHealth } from './health.ts'
import { shownThreshold } from './run/judge.ts'
import { statusOfCounts, zeroCounts, type ReadinessCounts } from './lists.ts'
import { learningOf, statusOf } from './present.ts'
import {
  hasReadiness,
  IS_LAPSED,
  LAST_UPDATED,
  READINESS_SQL,
  schedulesWithSources,
  WITH_SOURCES,
  type JudgedTable,
  type Readiness,
} from './readiness.ts'

/** Freshness fields of assets. */
export const freshnessExtension: AssetExtension = {
  async sourceFields(trx, sources) {
    const counted = await schedulesWithSources(trx)
      .whereIn(
        'checks.sourceId',
        sources.map(({ id }) => id),
      )
      .select('checks.sourceId as id', trx.raw(`${READINESS_SQL} as readiness, count(*)::int as count`))
      .groupByRaw('1, 2')
      .castTo<{ id: string; readiness: Readiness; count: number }[]>()
    const counts = new Map<string, ReadinessCounts>()
    for (const { id, readiness, count } of counted) {
      counts.set(id, { ...(counts.get(id) ?? zeroCounts()), [readiness]: count })
    }
    return new Map([...counts].map(([id, each]) => [id, sourceFreshness(each)]))
  },
  outcomes: () => [
    {
      kind: 'freshness',
      // A status from before a pause is outdated.
      text: `select company_id, source_id, table_id,
          case status when 'error' then 'error' when 'fail' then 'fail' else 'pass' end as outcome
        from checks f where kind = 'freshness' and is_active and status is not null
          and exists (select from sources s where s.company_id = f.company_id and s.id = f.source_id and s.is_active)`,
    },
  ],
  coverage: () => [
    {
      kind: 'freshness',
      text: `select company_id, source_id, table_id from checks where kind = 'freshness' and is_active`,
    },
  ],
  health: readFreshnessHealth,
  tableFilters: { freshness_status: freshnessCondition },
  tableFields: (companyId, tableIds) => ({
    reading: {
      name: 'freshness of tables',
      text: `select checks.uuid, checks.table_id, checks.status, checks.settings ->> 'monitoringMode' as monitoring_mode,
          checks.settings ->> 'slaThreshold' as sla_threshold,
          cast(checks.settings ->> 'learnedSlaSeconds' as int) as learned_sla_seconds,
          cast(checks.settings ->> 'updatesSeen' as int) as updates_seen,
          ${LAST_UPDATED} as last_updated, checks.last_checked_at, ${IS_LAPSED} as is_lapsed
        from checks ${WITH_SOURCES}
        where checks.company_id = :company_id and checks.kind = 'freshness'
          and checks.table_id = any(cast(:ids as uuid[]))`,
      bindings: { company_id: companyId, ids: [...tableIds] },
    },
    fieldsByTable: (tables: readonly JudgedTable[]) =>
      new Map(
        tables.map(table => [
          table.tableId,
          {
            freshness: {
              status: statusOf(table),
              last_updated: table.lastUpdated,
              sla_threshold: shownThreshold(table),
              checked_at: table.lastCheckedAt,
              learning: learningOf(table),
              schedule_id: table.uuid,
            },
          },
        ]),
      ),
  }),
}

const READINESS_OF: Record<string, Readiness> = { fresh: 'ready', stale: 'not_ready', error: 'error' }

/** The condition in SQL on tables called `a` that their freshness is one of some statuses. */
function freshnessCondition(statuses: readonly string[]): string {
  const among = (readiness: readonly Readiness[]) =>
    `(select checks.table_id from checks ${WITH_SOURCES}
      where checks.company_id = :companyId and checks.kind = 'freshness' and ${hasReadiness(readiness)})`
  const states = statuses.flatMap(status => READINESS_OF[status] ?? [])
  return `(${[
    ...(states.length > 0 ? [`a.id in ${among(states)}`] : []),
    ...(statuses.includes('unknown') ? [`a.id not in ${among(Object.values(READINESS_OF))}`] : []),
  ].join(' or ')})`
}

function sourceFreshness(counts: ReadinessCounts) {
  const { ready, not_ready: stale, unknown, error } = counts
  const total = ready + stale + unknown + error
  return {
    freshness_status: statusOfCounts(counts),
    freshness_message: messageOf({ ready, stale, error }, total),
    freshness_summary: `${ready} ready, ${stale} not ready, ${unknown} unknown, ${error} error`,
  }
}

function messageOf({ ready, stale, error }: Record<string, number>, total: number): string {
  const unread = error ? `, ${error} could not be checked` : ''
  if (stale) return `${stale} of ${total} monitored tables are stale${unread}`
  if (error) return `${error} of ${total} monitored tables could not be checked, none of the others is stale`
  if (ready) return `${ready} of ${total} monitored tables are fresh, none is stale`
  return 'The status of the monitored tables is unknown: they were not checked yet, are paused, or contain no data'
}
