import type { Bucket } from '../../checks/check.ts'
import { tablePath } from '../../connectors/catalog.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { AlertEvent, AlertKind } from '../alerts/api.ts'
import type { TableContext } from '../catalog/api.ts'
import type { CheckDeps } from './deps.ts'
import { isAlertDue, isFailing } from './failing-runs.ts'
import { publicIdOf } from './kind.ts'
import type { AlertSubject, AlertTexts, Capture, CheckKind, JudgedSeries } from './kind.ts'
import { lockCheck } from './locks.ts'
import type { CheckRow } from './models.ts'
import { confirmResults } from './past/states.ts'
import { inChunks, loadPoints } from './past/points.ts'

/** `schema.table`, or with its catalog where it has one, as titles have it. */
export function pathOfTable({ table }: TableContext): string {
  return tablePath({ catalog: table.catalogName, schema: table.schemaName, name: table.name })
}

/** A check that fails, with the series that count on its alert. */
interface FailingCheck<Row extends CheckRow> {
  capture: Capture<Row>
  failing: JudgedSeries[]
  /** The farthest from what was expected. */
  worst: JudgedSeries
}

/**
 * Raises the alerts of checks that fail, and resolves those of checks that pass again. Earlier results are read only where
 * there is a learned band to explain.
 * @param captures all of them: a kind may have more alerts, such as of groups, which follow each other
 * @param news those whose own alerts may change
 * @returns the alert of each series that counts on one
 */
export async function updateAlerts<Row extends CheckRow>(
  { alerts, catalog }: Pick<CheckDeps, 'alerts' | 'catalog'>,
  trx: Transaction,
  kind: CheckKind<Row>,
  {
    table,
    captures,
    news,
    at,
  }: {
    table: TableContext
    captures: readonly Capture<Row>[]
    news: readonly Capture<Row>[]
    at: Date
  },
): Promise<Map<JudgedSeries, string>> {
  const subjectOf = (row: Row): AlertSubject => ({
    type: kind.alert.name,
    sourceId: table.source.id,
    asset: {
      id: table.table.id,
      qualifiedName: table.table.qualifiedName,
      assetType: table.table.kind,
      tags: catalog.tagsOf(table.source, table.table, [row.columnName, ...row.groupByColumns]),
    },
  })
  const failing = news.flatMap(capture => (isAlertDue(kind, capture) && findFailing(capture)) || [])
  const events = await eventsOf(trx, kind, { failing, table, subjectOf })
  const more = (await kind.moreAlerts?.(trx, { table, captures, at, subjectOf })) ?? {}
  await alerts.resolveAll(trx, kind.alert.name, [
    ...news.filter(hasRecovered).map(({ row }) => publicIdOf(kind, row)),
    ...(more.over ?? []),
  ])
  if (more.orphaned && more.orphaned.length > 0)
    await alerts.resolveOrphaned(trx, { type: kind.alert.name, causes: [...more.orphaned] })
  const raised = await alerts.raiseAll(trx, [...events, ...(more.events ?? [])])
  return new Map(
    failing.flatMap(({ failing: series }, place) =>
      series.map(item => [item, raised[place]!.alertId] as const),
    ),
  )
}

/** Characters of the SQL of a check that sentences and names show. */
export const MAX_SQL_CHARS = 60

/** The SQL of a check as sentences show it: in one line, and not all of a long one. */
export function shortenSql(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  const points = [...line]
  return points.length > MAX_SQL_CHARS ? `${points.slice(0, MAX_SQL_CHARS).join('')}…` : line
}

/** The rows that a check is about, in a sentence, as ` where country = 'DE'`; nothing of one of all rows. */
export function describeFilter({ filter }: Pick<CheckRow, 'filter'>): string {
  return filter === null ? '' : ` where ${shortenSql(filter)}`
}

const SIZE_WORDS: Readonly<Record<string, string>> = { '1h': 'hour', '1d': 'day', '1w': 'week', '7d': 'week' }

/** What the sentence of an alert about a check begins with, after the name of its table. */
export function subjectOfCheck({ columnName, filter }: Pick<CheckRow, 'columnName' | 'filter'>) {
  return { column: columnName, filter: filter === null ? null : shortenSql(filter) }
}

/** The buckets that a check is about, in a sentence, as ` per day`; nothing of one without a window. */
export function describeWindow({ windowSize: size }: Pick<CheckRow, 'windowSize'>): string {
  return size === null ? '' : ` per ${SIZE_WORDS[size] ?? size}`
}

/** What the details of an alert say of the rows that a check is about. */
export function filterDetails({ filter }: Pick<CheckRow, 'filter'>): { filter?: string } {
  return filter === null ? {} : { filter }
}

/** An inactive check never runs again, so its alert would never be resolved. */
function findFailing<Row extends CheckRow>(capture: Capture<Row>): FailingCheck<Row> | null {
  if (!capture.row.isActive) return null
  const failing = capture.judged.filter(isFailing)
  const distance = ({ judged }: JudgedSeries) => Math.abs(judged.zScore ?? 0)
  const [worst] = failing.toSorted((a, b) => distance(b) - distance(a))
  return worst ? { capture, failing, worst } : null
}

/** After any other status no alert is open. */
function hasRecovered({ row, judged }: Capture): boolean {
  const hadAlert = row.status === 'fail' || row.status === 'error'
  return hadAlert && judged.every(({ judged: { status } }) => status === 'pass')
}

async function eventsOf<Row extends CheckRow>(
  trx: Transaction,
  kind: CheckKind<Row>,
  {
    failing,
    table,
    subjectOf,
  }: { failing: readonly FailingCheck<Row>[]; table: TableContext; subjectOf(row: Row): AlertSubject },
): Promise<AlertEvent[]> {
  const events: AlertEvent[] = []
  for (const chunk of inChunks(failing)) {
    const explained = chunk.filter(({ worst }) => worst.detection !== null)
    const points = await loadPoints(
      trx,
      explained.map(({ capture: { row, hours }, worst: { series } }) => ({ row, series, hours })),
    )
    const pasts = new Map(explained.map((item, place) => [item, points[place]!]))
    for (const item of chunk) {
      const { capture, worst } = item
      events.push({
        ...subjectOf(capture.row),
        cause: publicIdOf(kind, capture.row),
        ...withBucket(kind.alertTexts(capture, worst, table, pasts.get(item) ?? []), capture.bucket),
      })
    }
  }
  return events
}

/** The texts of an alert that say which bucket of time is meant. */
function withBucket(texts: AlertTexts, bucket: Bucket | undefined): AlertTexts {
  if (!bucket) return texts
  const { title, details } = texts
  return {
    ...texts,
    title:
      typeof title === 'string'
        ? `${title} (${bucket.label})`
        : { ...title, scope: [...(title.scope ?? []), bucket.label] },
    details: { ...details, bucket_start: bucket.start, bucket_end: bucket.end },
  }
}

/**
 * Makes what an alert spoke of part of what its check expects: the results that counted on it are confirmed, and their
 * baselines are read again with them. The check is locked, as recording its results does, before the alert is. One that
 * learns nothing marks them, no more. An alert about something else than a value of a check, such as groups that came or
 * went, is dismissed, and nothing is learned.
 */
export function learningFromDismissals<Row extends CheckRow>({
  idPrefix,
  model,
  startState,
}: CheckKind<Row>): NonNullable<AlertKind['learnExpected']> {
  return async (trx, alert) => {
    const uuid = alert.cause.startsWith(idPrefix) ? alert.cause.slice(idPrefix.length) : ''
    const check = UUID.test(uuid) ? await lockCheck(trx, model, { uuid }) : undefined
    if (!check) return false
    await confirmResults(trx, check, alert.id)
    return (startState?.(check) ?? null) !== null
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
