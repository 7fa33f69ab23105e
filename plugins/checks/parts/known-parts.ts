/** What is known of the parts of tables, from one scan to the next. */
import { countOf } from '../../../checks/explanation.ts'
import type { Check } from '../../../checks/check.ts'
import type { KeptNumber, KnownParts, MeasuredParts, PartState } from '../../../checks/scan-parts.ts'
import { canOf } from '../../../connectors/connector.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { hasCode } from '../../../server/http/errors.ts'
import type { TableContext } from '../../catalog/api.ts'
import { pathOfTable } from '../alerts.ts'
import type { CheckDeps } from '../deps.ts'
import { partMismatch } from './alert-kind.ts'

/** How a table is read: by parts where it is large, always by parts, or whole. */
export type TableReads = 'auto' | 'changed' | 'whole'

/** How a table is read, and why. A row that is not there stands for the defaults. */
export interface PartSettings {
  reads: TableReads
  rescanDays: number | null
  differedAt: Date | null
  differedParts: string[]
}

export const DEFAULT_PART_SETTINGS: PartSettings = {
  reads: 'auto',
  rescanDays: null,
  differedAt: null,
  differedParts: [],
}

const DAY_SECONDS = 86_400
/** Parts that an alert names. */
const MAX_NAMED_PARTS = 20
/**
 * How long a source may take to count a change, with room. PostgreSQL's sessions report what they changed a minute after
 * it at the latest, when they are not within a statement.
 */
const COUNTING_SECONDS = 120

interface KnownRow {
  reads: TableReads | null
  rescanDays: number | null
  part: string | null
  version: string
  states: Record<string, [value: KeptNumber['value'], at: number]>
}

/** How a table is read. */
export async function loadPartSettings(trx: Transaction, tableId: string): Promise<PartSettings> {
  const [found] = await rows<PartSettings>(
    trx,
    `select reads, rescan_days, differed_at, differed_parts from table_part_settings
     where company_id = :companyId and table_id = :tableId`,
    { companyId: companyOf(trx), tableId },
  )
  return found ?? DEFAULT_PART_SETTINGS
}

/**
 * What is known of the parts of a table; null where it is to be read whole: because of its settings or its size, because its
 * engine knows no parts, or because no check merges.
 */
export async function loadKnownParts(
  { catalog, parts: { fromRows, rescanDays } }: Pick<CheckDeps, 'catalog' | 'parts'>,
  trx: Transaction,
  { source, table }: TableContext,
  { checks, now }: { checks: readonly Check[]; now: Date },
): Promise<KnownParts | null> {
  if (!hasParts(catalog, { source, table }) || !checks.some(mayMerge)) return null
  const found = await rows<KnownRow>(
    trx,
    `select s.reads, s.rescan_days, p.part, p.version, p.states
     from (select cast(:tableId as uuid) as table_id) t
     left join table_part_settings s on s.company_id = :companyId and s.table_id = t.table_id
     left join table_parts p on p.company_id = :companyId and p.table_id = t.table_id
       and s.reads is distinct from 'whole'`,
    { companyId: companyOf(trx), tableId: table.id },
  )
  const { reads = null, rescanDays: own = null } = found[0] ?? {}
  const isLarge = Number(table.estimatedRows ?? 0) >= fromRows
  if (reads === 'whole' || (reads !== 'changed' && !isLarge)) return null
  const states = new Map(found.flatMap(row => (row.part === null ? [] : [[row.part, stateOf(row)] as const])))
  return { states, now, rescanSeconds: (own ?? rescanDays) * DAY_SECONDS }
}

/** Whether the engine of a source lists parts of a table; false of one whose extension was removed. */
export function hasParts(
  catalog: CheckDeps['catalog'],
  { source, table }: Pick<TableContext, 'source' | 'table'>,
): boolean {
  try {
    return canOf(catalog.connectorOf(source).capabilities.partitions, table)
  } catch (error) {
    if (hasCode(error, 'CONFLICT')) return false
    throw error
  }
}

function mayMerge({ type, window, groupBy = [] }: Check): boolean {
  return type.mergesParts === true && !window && groupBy.length === 0
}

function stateOf({ version, states }: KnownRow): PartState {
  const numbers = Object.entries(states).map(([key, [value, at]]) => [key, { value, at }] as const)
  return { version, numbers: Object.fromEntries(numbers) }
}

const SAVE = `
  insert into table_parts as p (company_id, table_id, part, version, rows, states, differed_at)
  select :companyId, :tableId, r.part, r.version, r.rows, r.states, case when r.differs then now() end
  from jsonb_to_recordset(cast(:read as jsonb))
    as r (part text, version text, rows bigint, states jsonb, differs boolean, "isWhole" boolean)
  order by r.part
  on conflict (table_id, part) do update set
    version = excluded.version, read_at = now(), rows = coalesce(excluded.rows, p.rows),
    -- Numbers of two versions never stand together.
    states = case when p.version = excluded.version and excluded.part <> all(cast(:whole as text[]))
      then p.states || excluded.states else excluded.states end,
    differed_at = case when p.version = excluded.version then coalesce(p.differed_at, excluded.differed_at)
      else excluded.differed_at end`

/**
 * Keeps what a scan read of the parts of a table, forgets those that are gone, and ends reading by parts where it was found
 * wrong: a number differed at a version that has not moved since, though the source had the time to count any change.
 */
export async function saveParts(
  deps: Pick<CheckDeps, 'alerts' | 'catalog' | 'parts'>,
  trx: Transaction,
  context: TableContext,
  { read, versions }: MeasuredParts,
): Promise<void> {
  const ids = { companyId: companyOf(trx), tableId: context.table.id }
  const suspects = await rows<{ part: string; version: string }>(
    trx,
    `select part, version from table_parts where company_id = :companyId and table_id = :tableId
       and differed_at < now() - interval '${COUNTING_SECONDS} s'`,
    ids,
  )
  const wrong = suspects.filter(({ part, version }) => versions.get(part) === version)
  if (wrong.length > 0) {
    const names = wrong.map(({ part }) => part)
    return endReadingByParts(deps, trx, context, names)
  }
  if (read.length > 0)
    await rows(trx, SAVE, {
      ...ids,
      whole: read.filter(({ isWhole }) => isWhole).map(({ name }) => name),
      read: JSON.stringify(
        read.map(({ name, version, rows: count, numbers, differences }) => ({
          part: name,
          version,
          rows: count,
          states: Object.fromEntries(
            Object.entries(numbers).map(([key, { value, at }]) => [key, [value, at]]),
          ),
          differs: differences > 0,
        })),
      ),
    })
  await rows(
    trx,
    `delete from table_parts where company_id = :companyId and table_id = :tableId
       and part <> all(cast(:names as text[]))`,
    { ...ids, names: [...versions.keys()] },
  )
}

async function endReadingByParts(
  { alerts, catalog, parts: { countMismatch } }: Pick<CheckDeps, 'alerts' | 'catalog' | 'parts'>,
  trx: Transaction,
  context: TableContext,
  names: readonly string[],
): Promise<void> {
  const { source, table } = context
  const path = pathOfTable(context)
  await setReads(trx, table.id, { reads: 'whole', differed: names })
  countMismatch({ engine: source.sourceType })
  await alerts.raiseAll(trx, [
    {
      type: partMismatch.name,
      cause: table.id,
      severity: 'warning',
      sourceId: source.id,
      asset: {
        id: table.id,
        qualifiedName: table.qualifiedName,
        assetType: table.kind,
        tags: catalog.tagsOf(source, table, []),
      },
      ruleName: 'parts of tables',
      title: {
        found: `rows changed in ${countOf(names.length, 'partition')} that the source reported unchanged; read whole from now on`,
      },
      details: { table_path: path, parts: names.slice(0, MAX_NAMED_PARTS), part_count: names.length },
    },
  ])
}

/** Stores how a table is read. Whatever ends reading by parts forgets what was kept; what begins it starts anew. */
export async function setReads(
  trx: Transaction,
  tableId: string,
  change: { reads?: TableReads; rescanDays?: number | null; differed?: readonly string[] },
): Promise<void> {
  const companyId = companyOf(trx)
  const before = await loadPartSettings(trx, tableId)
  const { reads = before.reads, rescanDays = before.rescanDays, differed } = change
  const isKept = change.reads === undefined
  await rows(
    trx,
    `insert into table_part_settings (company_id, table_id, reads, rescan_days, differed_at, differed_parts)
     values (:companyId, :tableId, :reads, :rescanDays, case when :hasDiffered then now() end, cast(:differed as text[]))
     on conflict (table_id) do update set reads = excluded.reads, rescan_days = excluded.rescan_days
       ${isKept ? '' : ', differed_at = excluded.differed_at, differed_parts = excluded.differed_parts'}`,
    {
      companyId,
      tableId,
      reads,
      rescanDays,
      hasDiffered: differed !== undefined,
      differed: differed ?? [],
    },
  )
  if (!isKept)
    await rows(trx, 'delete from table_parts where company_id = :companyId and table_id = :tableId', {
      companyId,
      tableId,
    })
}
