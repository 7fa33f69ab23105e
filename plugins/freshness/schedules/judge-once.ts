import type { Server } from '@hapi/hapi'
import { v7 } from 'uuid'
import type { TableContext } from '../../catalog/api.ts'
import { observe } from '../run/check.ts'
import { judgeAge, knownThreshold } from '../run/judge.ts'
import { describeFinding } from '../run/record.ts'
import { readSource } from '../run/read.ts'
import { planReading, type WatchedTable } from '../run/watched.ts'
import type { FreshnessFinding } from '../api.ts'

/**
 * Measures the age of a table now, and judges it by a threshold. Stores nothing.
 * @param terms the column defaults to the one that a new schedule would take, or the engine's modification time
 */
export async function judgeOnce(
  server: Server,
  { source, table }: TableContext,
  terms: { timestampColumn: string | null; slaThreshold: string },
): Promise<Omit<FreshnessFinding, 'scheduleId'>> {
  const { timestampColumn } = terms
  const watched: WatchedTable = {
    id: v7(),
    tableId: table.id,
    ...{ expression: null, usesLastModified: false, monitoringMode: 'explicit', learnedSlaSeconds: null },
    ...{ expectedNext: null, alertSeverity: null, slaStatus: null, lastError: null, lastUpdated: null },
    ...{
      modifiedAt: null,
      readZone: null,
      isSlow: false,
      isActive: true,
      runningSlot: null,
      lastUpdate: null,
    },
    ...terms,
    catalogName: table.catalogName,
    schemaName: table.schemaName,
    tableName: table.name,
    qualifiedName: table.qualifiedName,
    kind: table.kind,
    tags: table.tags,
    columnTags: table.columnTags,
    personalFromUpstream: table.personalFromUpstream,
    sourceTags: source.tags,
    isKnown: table.isActive,
    columns:
      timestampColumn === null ? table.columns : table.columns.filter(({ name }) => name === timestampColumn),
  }
  const planned = await planReading(server, source, watched)
  const now = new Date()
  const found = await readSource(server, source, [planned], { now, failure: null, isScheduled: false })
  const reading = planned.refusal
    ? { error: planned.refusal, at: performance.now() }
    : found.readings.get(watched.id)
  if (!reading) throw new Error(`There is no reading of ${table.qualifiedName}`)
  const seen = observe(server, source, planned, reading, now)
  const judgement = seen.error
    ? null
    : judgeAge(seen.lastUpdated, now, knownThreshold(watched, seen.lastUpdated))
  return describeFinding({ ...seen, judgement })
}
