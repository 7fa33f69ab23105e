import { companyOf, rows, type Reading } from '../../server/database/database.ts'
import { readCheckHealth } from './health.ts'
import { isOfKinds } from './list/list-columns.ts'
import type { AssetExtension } from '../catalog/api.ts'
import type { StatusCounts } from './types.ts'
import type { CheckDeps } from './deps.ts'
import type { CheckStatus } from './models.ts'

type Kinds = CheckDeps['kinds']

/** What checks add to assets: the quality that those of all kinds show together; the worst counts. */
export function qualityExtension({ kinds }: Pick<CheckDeps, 'kinds'>): AssetExtension {
  return {
    async sourceFields(trx, sources) {
      const ids = sources.map(({ id }) => id)
      const { text, bindings } = statusCountReading(kinds, 'source_id', companyOf(trx), ids)
      const tallies = sumByOwner(await rows<StatusCount>(trx, text, bindings))
      return new Map(sources.map(({ id }) => [id, sourceFields(tallies.get(id) ?? zeroCounts())]))
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
      reading: statusCountReading(kinds, 'table_id', companyId, tableIds),
      fieldsByTable: (found: readonly StatusCount[]) =>
        new Map(
          [...sumByOwner(found)].map(([id, tally]) => [
            id,
            { quality: { status: statusOf(tally), ...tally } },
          ]),
        ),
    }),
  }
}

/** The statuses of tables, the worst first, with the `status_rank` of the checks that make them so. */
const RANKS: [keyof StatusCounts, ranks: string][] = [
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
  const { passing, failing, error } = tally
  return {
    data_quality_status: status,
    data_quality_message:
      status === 'none'
        ? 'No check has run yet: make a rule or a metric'
        : `${passing} checks pass, ${failing} fail, ${error} could not run`,
  }
}

function statusOf({ passing, failing, error }: StatusCounts): 'passing' | 'failing' | 'error' | 'none' {
  if (failing > 0) return 'failing'
  if (error > 0) return 'error'
  return passing > 0 ? 'passing' : 'none'
}

interface StatusCount {
  owner: string
  status: CheckStatus | null
  count: number
}

/** What counts the active checks of sources or tables by how they did last. */
function statusCountReading(
  kinds: Kinds,
  owner: 'source_id' | 'table_id',
  companyId: string,
  ids: readonly string[],
): Reading<StatusCount> {
  return {
    name: `quality by ${owner}`,
    text: `select ${owner} as owner, status, cast(count(*) as int) as count from checks
      where company_id = :company_id and is_active and ${isOfKinds(kinds)} and ${owner} = any(cast(:ids as uuid[]))
      group by 1, 2`,
    bindings: { company_id: companyId, ids: [...ids] },
  }
}

/** Adds up what was counted; what has no check has no tally. */
function sumByOwner(counted: readonly StatusCount[]): Map<string, StatusCounts> {
  const tallies = new Map<string, StatusCounts>()
  for (const { owner, status, count } of counted) {
    const tally = tallies.get(owner) ?? zeroCounts()
    const outcome = outcomeOf(status)
    if (outcome) tally[outcome] += count
    tallies.set(owner, tally)
  }
  return tallies
}

const zeroCounts = (): StatusCounts => ({ passing: 0, failing: 0, error: 0 })

const OUTCOMES = { pass: 'passing', warning: 'passing', fail: 'failing', error: 'error' } as const

function outcomeOf(status: CheckStatus | null): keyof StatusCounts | undefined {
  return status === null ? undefined : OUTCOMES[status]
}
