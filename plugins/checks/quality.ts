import { companyOf, rows } from '../../server/database/database.ts'
import { readCheckHealth } from './health.ts'
import { isOfKinds } from './list/list-columns.ts'
import type { AssetExtension } from '../catalog/api.ts'
import type { StatusCounts } from './types.ts'
import type { CheckDeps } from './deps.ts'
import {
  describeCounts,
  judgeSourceHealth,
  sourcePartReading,
  stateOf,
  tablePartReading,
  watchedParts,
  type PartCount,
} from './watched-parts.ts'

type Kinds = CheckDeps['kinds']

/** What checks add to assets: the quality that those of all kinds show together; the worst counts. */
export function qualityExtension({ kinds }: Pick<CheckDeps, 'kinds'>): AssetExtension {
  return {
    async sourceFields(trx, sources) {
      const ids = sources.map(({ id }) => id)
      const { text, bindings } = sourcePartReading(kinds, companyOf(trx), ids)
      const byOwner = Map.groupBy(await rows<PartCount>(trx, text, bindings), ({ owner }) => owner)
      return new Map(
        sources.map(({ id, tableCount }) => {
          const counts = byOwner.get(id) ?? []
          const tally = sumChecks(counts)
          return [id, { ...sourceFields(tally), health: judgeSourceHealth(counts, tally, tableCount) }]
        }),
      )
    },
    outcomes: () => [
      {
        kind: 'check',
        text: `select company_id, source_id, table_id, status as outcome from checks
          where is_active and status is not null and ${isOfKinds(kinds)}`,
      },
    ],
    coverage: () =>
      [...kinds.values()].map(({ name, feature }) => ({
        kind: feature,
        text: `select company_id, source_id, table_id from checks where is_active and kind = '${name}'`,
      })),
    health: trx => readCheckHealth(kinds, trx),
    tableFilters: { quality_status: statuses => qualityCondition(kinds, statuses) },
    tableFields: (companyId, tableIds) => ({
      reading: tablePartReading(kinds, companyId, tableIds),
      fieldsByTable: (found: readonly PartCount[]) =>
        new Map(
          [...Map.groupBy(found, ({ owner }) => owner)].map(([id, counts]) => {
            const tally = sumChecks(counts)
            return [id, { quality: { status: statusOf(tally), ...tally }, watched: watchedParts(counts) }]
          }),
        ),
    }),
  }
}

/** The statuses of tables, the worst first, with the `status_rank` of the checks that make them so. */
const RANKS: [Exclude<keyof StatusCounts, 'pending' | 'learning'>, ranks: string][] = [
  ['failing', '1'],
  ['error', '2'],
  ['passing', '3, 4, 6'],
]

/** The condition in SQL on tables called `a` that their quality is one of some statuses, the worst of which counts. */
function qualityCondition(kinds: Kinds, statuses: readonly string[]): string {
  const among = (from: number, to: number) => {
    const ranks = RANKS.slice(from, to).map(([, numbers]) => numbers)
    return `in (select table_id from checks
      where company_id = :companyId and is_active and ${isOfKinds(kinds)} and status_rank in (${ranks.join(', ')}))`
  }
  const isAsked = (at: number) => RANKS[at] !== undefined && statuses.includes(RANKS[at][0])
  // Neighbours are looked up together: some check is among them, and none is worse.
  const conditions = RANKS.flatMap((_, from) => {
    if (!isAsked(from) || isAsked(from - 1)) return []
    const to = RANKS.findIndex((_rank, at) => at > from && !isAsked(at))
    const isAmong = `a.id ${among(from, to === -1 ? RANKS.length : to)}`
    return from === 0 ? isAmong : `(${isAmong} and a.id not ${among(0, from)})`
  })
  if (statuses.includes('none')) conditions.push(`a.id not ${among(0, RANKS.length)}`)
  return `(${conditions.join(' or ')})`
}

function sourceFields(tally: StatusCounts) {
  const status = statusOf(tally)
  return {
    data_quality_status: status,
    data_quality_message:
      status === 'none' ? 'No check has run yet: make a rule or a metric' : describeCounts(tally),
  }
}

function statusOf({
  passing,
  learning,
  failing,
  error,
}: StatusCounts): 'passing' | 'failing' | 'error' | 'none' {
  if (failing > 0) return 'failing'
  if (error > 0) return 'error'
  return passing + learning > 0 ? 'passing' : 'none'
}

/** Adds up checks by how they did last. Freshness is not among them: it has fields of its own. */
function sumChecks(counted: readonly PartCount[]): StatusCounts {
  const tally: StatusCounts = { passing: 0, learning: 0, failing: 0, error: 0, pending: 0 }
  for (const each of counted) if (each.part !== 'freshness') tally[stateOf(each)] += each.count
  return tally
}
