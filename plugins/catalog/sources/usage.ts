import type { StatementUsage } from '../../../connectors/connector.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { Source } from '../models.ts'
import type { FinishedCall } from './session.ts'

/**
 * What sessions at a source are for: checks, the age of tables, the catalog, profiles, connection tests, and what people
 * try out before it is stored, a new check's past included.
 */
export const PURPOSES = ['scan', 'freshness', 'discovery', 'profile', 'test', 'dry_run'] as const
export type SessionPurpose = (typeof PURPOSES)[number]

/** What was used of a source. */
export interface SessionUse {
  sessions: number
  statements: number
  /** Sessions that could not be opened, and statements that failed. */
  failures: number
  rows: number
  /** As received; 0 where the engine does not report them. */
  bytes: number
  /** From when each statement was sent until it had ended, added up. */
  milliseconds: number
}

/** Nothing yet. */
function noUse(): SessionUse {
  return { sessions: 0, statements: 0, failures: 0, rows: 0, bytes: 0, milliseconds: 0 }
}

/** Adds up what one session uses. */
export interface UseMeter {
  /** For the connector. */
  onStatement(spent: StatementUsage): void
  /** For calls of the connection: each counts as a statement if the connector reports no statements. */
  onCall(call: FinishedCall): void
  /** The session could not be opened. */
  fails(): void
  /** What was used since this was asked last; null for nothing. */
  take(): SessionUse | null
  /** What was used in all. */
  total(): SessionUse
}

/** Starts to count a session. @param report is called for each statement, or for each call if the connector reports none */
export function makeMeter(report: (spent: StatementUsage) => void): UseMeter {
  let hasStatements = false
  let use = { ...noUse(), sessions: 1 }
  let calls = noUse()
  let before = noUse()
  const current = () => (hasStatements ? use : sum(use, calls))
  return {
    onStatement(reported) {
      const spent = clampCounts(reported)
      hasStatements = true
      add(use, spent)
      report(spent)
    },
    onCall(call) {
      const spent = { ...call, statements: 1, bytes: 0 }
      add(calls, spent)
      if (!hasStatements) report(spent)
    },
    fails: () => void (use.failures += 1),
    take() {
      const spent = current()
      before = sum(before, spent)
      use = noUse()
      calls = noUse()
      return Object.values(spent).some(count => count > 0) ? spent : null
    },
    total: () => sum(before, current()),
  }
}

/** Numbers that can be stored, whatever a third-party connector reports: otherwise the slot could not be released. */
function clampCounts({ statements, rows, bytes, durationMs, error }: StatementUsage): StatementUsage {
  const number = (reported: number) => (reported > 0 && reported <= Number.MAX_SAFE_INTEGER ? reported : 0)
  return {
    statements: Math.round(number(statements)),
    rows: Math.round(number(rows)),
    bytes: Math.round(number(bytes)),
    durationMs: number(durationMs),
    ...(error && { error }),
  }
}

function add(use: SessionUse, { statements, rows, bytes, durationMs, error }: StatementUsage): void {
  use.statements += statements
  use.rows += rows
  use.bytes += bytes
  use.milliseconds += durationMs
  if (error) use.failures += 1
}

function sum(a: SessionUse, b: SessionUse): SessionUse {
  const total = noUse()
  for (const name of Object.keys(total) as (keyof SessionUse)[]) total[name] = a[name] + b[name]
  return total
}

/** The end of a statement that has the row of a source in `source`: adds a use to those of the day. */
export const ADD_USE = `
  insert into source_usage as u
    (company_id, source_id, day, purpose, sessions, statements, failures, rows, bytes, milliseconds)
  select :companyId, id, cast(now() at time zone 'utc' as date), :purpose,
    :sessions, :statements, :failures, :rows, :bytes, :milliseconds
  from source
  on conflict (source_id, day, purpose) do update set
    sessions = u.sessions + excluded.sessions, statements = u.statements + excluded.statements,
    failures = u.failures + excluded.failures, rows = u.rows + excluded.rows, bytes = u.bytes + excluded.bytes,
    milliseconds = u.milliseconds + excluded.milliseconds`

/** The days that are asked for, UTC: the last ones until today, or from one to another. */
export type UsageDays = { days: number } | { from: string; to: string }

/** What was used of a source, by day and by purpose; days without use are there too. */
export async function readUsage(trx: Transaction, source: Source, days: UsageDays) {
  const stored = await rows<
    Record<keyof SessionUse, string> & { day: string; purpose: SessionPurpose | null }
  >(
    trx,
    `select to_char(d, 'YYYY-MM-DD') as day, u.purpose,
       sessions, statements, failures, rows, bytes, milliseconds
     from generate_series(
       cast(coalesce(cast(:from as date), cast(now() at time zone 'utc' as date) - cast(:back as int)) as timestamp),
       cast(coalesce(cast(:to as date), cast(now() at time zone 'utc' as date)) as timestamp),
       interval '1 day') d
     left join source_usage u on u.company_id = :companyId and u.source_id = :sourceId and u.day = cast(d as date)
     order by d`,
    {
      companyId: companyOf(trx),
      sourceId: source.id,
      from: 'from' in days ? days.from : null,
      to: 'from' in days ? days.to : null,
      back: 'from' in days ? 0 : days.days - 1,
    },
  )
  const used = stored.map(({ day, purpose, ...counts }) => ({ day, purpose, use: parseCounts(counts) }))
  const totalOf = (fits: (one: (typeof used)[number]) => boolean) =>
    presentUse(used.filter(fits).reduce((total, { use }) => sum(total, use), noUse()))
  const dates = [...new Set(used.map(({ day }) => day))]
  return {
    from: dates[0] ?? '',
    to: dates.at(-1) ?? '',
    total: totalOf(() => true),
    by_purpose: Object.fromEntries(
      PURPOSES.map(purpose => [purpose, totalOf(one => one.purpose === purpose)]),
    ),
    days: [...Map.groupBy(used, ({ day }) => day)].map(([day, of]) => ({
      day,
      ...presentUse(of.reduce((total, { use }) => sum(total, use), noUse())),
    })),
  }
}

/** PostgreSQL's bigint comes as text; of a day without use, null. */
function parseCounts(counts: Record<keyof SessionUse, string | null>): SessionUse {
  const use = noUse()
  for (const name of Object.keys(use) as (keyof SessionUse)[]) use[name] = Number(counts[name] ?? 0)
  return use
}

function presentUse({ milliseconds, ...counts }: SessionUse) {
  return { ...counts, seconds: milliseconds / 1_000 }
}

/** How long the use of a day is kept, in days. */
export const USAGE_DAYS = 400
