import type { TableContext } from '../../catalog/api.ts'
import { observe } from '../run/check.ts'
import type { FreshnessDeps } from '../deps.ts'
import { judgeAge, knownThreshold } from '../run/judge.ts'
import { describeFinding } from '../run/record.ts'
import { readSource } from '../run/read.ts'
import { planReading, type WatchedTable } from '../run/watched.ts'
import type { FreshnessFinding } from '../api.ts'

/** An active schedule of an explicit threshold that is not stored, as one is before its first check. */
const NEVER_CHECKED = {
  id: '',
  uuid: '',
  expression: null,
  usesLastModified: false,
  monitoringMode: 'explicit',
  learnedSlaSeconds: null,
  expectedNext: null,
  alertSeverity: null,
  status: null,
  lastError: null,
  lastUpdated: null,
  modifiedAt: null,
  readZone: null,
  isSlow: false,
  isActive: true,
  runningSlot: null,
  lastUpdate: null,
  checkInterval: '1h',
  updatesSeen: null,
  pastReadAt: null,
  pastNote: null,
} as const

/**
 * Measures the age of a table now, and judges it by a threshold. Stores nothing.
 * @param terms the column defaults to the one that a new schedule would take, or the engine's modification time
 */
export async function judgeOnce(
  deps: Pick<FreshnessDeps, 'catalog' | 'config' | 'connectors' | 'pino'>,
  { source, table }: TableContext,
  terms: { timestampColumn: string | null; slaThreshold: string },
): Promise<Omit<FreshnessFinding, 'scheduleId'>> {
  const { timestampColumn } = terms
  const watched: WatchedTable = {
    ...table,
    ...NEVER_CHECKED,
    ...terms,
    tableId: table.id,
    tableKind: table.kind,
    ofTable: table.name,
    isTableActive: table.isActive,
    sourceTags: source.tags,
    columns:
      timestampColumn === null ? table.columns : table.columns.filter(({ name }) => name === timestampColumn),
  }
  const planned = await planReading(deps, source, watched)
  const now = new Date()
  const read = await readSource(deps, source, [planned], { now, failure: null, isScheduled: false })
  const reading = planned.refusal
    ? { error: planned.refusal, at: performance.now() }
    : read.readings.get(watched.id)
  if (!reading) throw new Error(`There is no reading of ${table.qualifiedName}`)
  const seen = observe(deps, source, planned, reading, now)
  const judgement = seen.error
    ? null
    : judgeAge(seen.lastUpdated, now, knownThreshold(watched, seen.lastUpdated))
  return describeFinding({ ...seen, updatesSeen: null, judgement })
}
