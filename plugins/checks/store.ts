/** How the checks of a kind are found, created, changed and removed. */
import { raw, type PartialModelObject, type QueryBuilder } from 'objection'
import { v4 } from 'uuid'
import type { DetectorState, Schedule, SeriesPoint } from '../../checks/detector.ts'
import { findByPublicId, IS_OF_ASSET, whereAsset } from '../../server/database/asset-rows.ts'
import { companyOf, insertAll, rows, type Transaction } from '../../server/database/database.ts'
import { dueAgain, rescheduled } from '../../server/database/due.ts'
import { invalidField } from '../../server/http/errors.ts'
import type { AlertsApi } from '../alerts/api.ts'
import type { Asset } from '../catalog/api.ts'
import type { NamedOwner, OwnedCheckId } from './declared/declared-checks.ts'
import type { Backfill } from './types.ts'
import { publicIdOf, type CheckKind, type StoredKind } from './kind.ts'
import { lockCheck, lockChecksByUuid } from './locks.ts'
import {
  CheckResult,
  queryChecks,
  type SeriesValues,
  type CheckModel,
  type CheckRow,
  type NewRow,
  type TableNames,
} from './models.ts'
import { activeAt } from './past/points.ts'
import { relearn, saveStates } from './past/states.ts'
import { seriesOutcomes } from './run/record.ts'

type Named<Row extends CheckRow> = Row & TableNames

/** Checks with the names of their tables. @param some these checks only */
export function checksWithNames<Row extends CheckRow>(
  trx: Transaction,
  model: CheckModel<Row>,
  some?: QueryBuilder<Row>,
): QueryBuilder<Named<Row>, Named<Row>[]> {
  const query = queryChecks(model, trx)
  const named = (some ? query.from(some.as('checks')) : query)
    .innerJoin('tables', 'tables.id', 'checks.tableId')
    .innerJoin('sources', 'sources.id', 'checks.sourceId')
    .leftJoin('tables as other', 'other.id', 'checks.otherTableId')
    .leftJoin('sources as otherSources', 'otherSources.id', 'other.sourceId')
    .select(
      'checks.*',
      'tables.catalogName',
      'tables.schemaName',
      'tables.name as ofTable',
      'tables.qualifiedName',
      'tables.isActive as isTableActive',
      'sources.internalId as sourceNumber',
      'other.catalogName as otherCatalog',
      'other.schemaName as otherSchema',
      'other.name as otherTable',
      'other.isActive as isOtherActive',
      'other.sourceId as otherSourceId',
      'otherSources.name as otherSource',
    )
  return named as unknown as QueryBuilder<Named<Row>, Named<Row>[]>
}

/** A check of an asset by its public id or its number. */
export async function findCheck<Row extends CheckRow>(
  trx: Transaction,
  { model, idPrefix }: Pick<CheckKind<Row>, 'model' | 'idPrefix'>,
  asset: Asset,
  id: string,
): Promise<Named<Row> | undefined> {
  const columns = { prefix: idPrefix, uuid: 'checks.uuid', number: 'checks.id' }
  const named = checksWithNames(trx, model) as unknown as QueryBuilder<Row, Row[]>
  const check = await findByPublicId(whereAsset(named, model, asset), columns, id)
  return check as Named<Row> | undefined
}

/** The number of checks of an asset, and of the active ones by their last status. */
export interface CheckTotals {
  total: number
  active: number
  pass: number
  warning: number
  fail: number
  error: number
  lastCheckedAt: Date | null
}

const COUNTS = ['pass', 'warning', 'fail', 'error'].map(
  status => `count(*) filter (where is_active and status = '${status}')::int as ${status}`,
)

/** Counts the checks of one kind that an asset has. */
export async function countChecks(
  trx: Transaction,
  { name }: Pick<CheckKind, 'name'>,
  { source, table }: Asset,
): Promise<CheckTotals> {
  const [counted] = await rows<CheckTotals>(
    trx,
    `select count(*)::int as total, count(*) filter (where is_active)::int as active, ${COUNTS.join(', ')},
       max(last_checked_at) as last_checked_at
     from checks where ${IS_OF_ASSET} and kind = :kind`,
    { companyId: companyOf(trx), sourceId: source.id, tableId: table?.id ?? null, kind: name },
  )
  return counted!
}

/** Stores checks; they are due at once. @returns their UUIDs, in the same order */
export async function storeChecks<Row extends CheckRow>(
  trx: Transaction,
  model: CheckModel<Row>,
  all: readonly NewRow<Row>[],
): Promise<string[]> {
  const created = all.map(columns => ({ ...columns, uuid: v4() }))
  await insertAll(created, chunk => queryChecks(model, trx).insert(chunk as PartialModelObject<Row>[]))
  return created.map(({ uuid }) => uuid)
}

const STORE_ONE_EACH = `
  insert into checks (uuid, company_id, source_id, table_id, kind, type, settings, check_interval, is_active)
  select r.uuid, :companyId, r."sourceId", r."tableId", :kind, :kind, r.settings, r."checkInterval", r."isActive"
  from jsonb_to_recordset(cast(:records as jsonb)) as r(uuid uuid, "sourceId" uuid, "tableId" uuid, settings jsonb,
    "checkInterval" text, "isActive" boolean)
  on conflict do nothing returning uuid`

/** A new check of a kind of which a table has one. */
export interface OneOfTable extends Pick<CheckRow, 'sourceId' | 'tableId' | 'isActive'> {
  checkInterval: string
  settings: object
}

/** Stores checks of a kind of which a table has one; they are due at once. @returns those of tables that had none, with their UUIDs */
export async function storeOneEach<New extends OneOfTable>(
  trx: Transaction,
  kind: string,
  all: readonly New[],
): Promise<(New & { uuid: string })[]> {
  if (all.length === 0) return []
  const created = all.map(check => ({ ...check, uuid: v4() }))
  const records = JSON.stringify(created)
  const stored = await rows<{ uuid: string }>(trx, STORE_ONE_EACH, {
    companyId: companyOf(trx),
    kind,
    records,
  })
  const uuids = new Set(stored.map(({ uuid }) => uuid))
  return created.filter(({ uuid }) => uuids.has(uuid))
}

/** Stores checks, as above. @returns them in the same order */
export async function insertChecks<Row extends CheckRow>(
  trx: Transaction,
  model: CheckModel<Row>,
  all: readonly NewRow<Row>[],
): Promise<Named<Row>[]> {
  const uuids = await storeChecks(trx, model, all)
  const stored = await checksWithNames(trx, model).whereRaw('checks.uuid = any(cast(? as uuid[]))', [uuids])
  const byUuid = new Map(stored.map(check => [check.uuid, check]))
  return uuids.map(uuid => byUuid.get(uuid)!)
}

/** A change of a check. */
export interface CheckChange<Row extends CheckRow> {
  columns: Partial<Row>
  /** Whether the same results are read in another way. */
  isRelearned?: boolean
  /** Whether the check measures something else from now on, by its row before: earlier results say nothing about later ones. */
  isMeasuredAnew?(before: Row): boolean
}

/**
 * Changes what is given; what the baseline depends on makes it be read from the results again. A check that is switched off
 * closes its alerts, and what is being measured for it is not recorded.
 * @returns undefined when the check is gone
 */
export async function changeCheck<Row extends CheckRow>(
  alerts: AlertsApi,
  trx: Transaction,
  kind: CheckKind<Row>,
  { id }: Pick<Row, 'id'>,
  { columns, isRelearned = false, isMeasuredAnew }: CheckChange<Row>,
): Promise<Named<Row> | undefined> {
  // Once it is locked, a scan of it has been recorded, or will be by what is changed here.
  const before = await lockCheck(trx, kind.model, { id })
  if (!before) return undefined
  requireWindowToPatch(before, columns)
  const isAnew = isMeasuredAnew?.(before) ?? false
  await queryChecks(kind.model, trx)
    .findById(id)
    .patch({
      ...rescheduled(columns),
      ...(isAnew && restartBaseline(before)),
      ...(columns.isActive === false && { failingRuns: 0 }),
    } as PartialModelObject<Row>)
  if (isAnew || isRelearned) await relearn(trx, [before])
  if (columns.isActive === false) await endAlerts(alerts, trx, kind, before)
  const [changed] = await checksWithNames(trx, kind.model).where('checks.id', id)
  return changed
}

/** @throws 400 `VALIDATION_ERROR` for fields of a window of a check without one */
function requireWindowToPatch({ windowSize }: CheckRow, { windowDelay, revisit }: Partial<CheckRow>): void {
  if (windowSize !== null) return
  const field = windowDelay != null ? 'window_delay' : revisit != null ? 'revisit' : null
  if (field !== null)
    throw invalidField(field, 'is of a check with a window, which this one is not: make another check')
}

/** The columns of a check whose baseline starts without the results so far; what is being measured is not recorded but due again. */
export function restartBaseline({ runningSlot }: Pick<CheckRow, 'runningSlot'>) {
  return {
    baselineAfter: raw(`(select coalesce(max(r.id), 0) from check_results r
      where r.company_id = checks.company_id and r.check_id = checks.id)`),
    ...(runningSlot && dueAgain()),
  }
}

/** Removes a check with its results, and resolves its alerts. */
export async function removeCheck<Row extends CheckRow>(
  alerts: AlertsApi,
  trx: Transaction,
  kind: StoredKind<Row>,
  { id }: Pick<Row, 'id'>,
): Promise<void> {
  // Its row is locked before its alerts, as recording its results does.
  const check = await lockCheck(trx, kind.model, { id })
  if (!check) return
  await endAlerts(alerts, trx, kind, check)
  await queryChecks(kind.model, trx).deleteById(id)
}

async function endAlerts<Row extends CheckRow>(
  alerts: AlertsApi,
  trx: Transaction,
  kind: StoredKind<Row>,
  check: Row,
): Promise<void> {
  const causes = [publicIdOf(kind, check), ...((await kind.endMoreAlerts?.(trx, check)) ?? [])]
  await alerts.resolveOrphaned(trx, { type: kind.alert.name, causes })
}

/** Stores past results as if they had been taken then, and what was learned of them. The past raises no alerts. */
export async function storePast<Row extends CheckRow>(
  trx: Transaction,
  kind: CheckKind<Row>,
  check: Row,
  { points }: Pick<Backfill, 'points'>,
  hours?: Schedule,
): Promise<void> {
  const known = new Map<string, PastSeries>()
  const results = points.flatMap(({ at, outcome, bucket }) =>
    seriesOutcomes(outcome).map(each => {
      const series = seriesIn(known, each.series, () => kind.startState?.(check) ?? null)
      const { state, past } = series
      const judgement = kind.judge(check, each.outcome, { at, wasActive: activeAt(hours, at), past }, state)
      series.state = judgement.state
      if (judgement.detection) past.push(judgement.detection.point)
      return {
        checkId: check.id,
        at,
        isBackfilled: true,
        series: each.series,
        ...judgement.judged,
        ...(bucket && { bucketStart: bucket.start, bucketEnd: bucket.end }),
      }
    }),
  )
  await insertAll(results, chunk => CheckResult.query(trx).insert(chunk))
  const learned = [...known.values()].flatMap(({ values: series, state }) =>
    state ? [{ row: check, series, state }] : [],
  )
  await saveStates(trx, learned, points.at(-1)?.at ?? new Date())
}

/** A series while its past is judged. */
interface PastSeries {
  values: SeriesValues
  state: DetectorState | null
  past: SeriesPoint[]
}

function seriesIn(
  known: Map<string, PastSeries>,
  values: SeriesValues,
  start: () => DetectorState | null,
): PastSeries {
  const key = JSON.stringify(values)
  const series = known.get(key) ?? { values, state: start(), past: [] }
  known.set(key, series)
  return series
}

/** The columns that say what manages a check. */
export function ownerColumns(owner: NamedOwner | undefined): Pick<CheckRow, 'ownerKind' | 'ownerRef'> {
  return owner
    ? { ownerKind: owner.kind, ownerRef: { file: owner.file, key: owner.key } }
    : { ownerKind: null, ownerRef: null }
}

const SET_OWNERS = `
  update checks c set owner_kind = r.kind,
    owner_ref = case when r.kind is not null then jsonb_build_object('file', r.file, 'key', r.key) end
  from jsonb_to_recordset(cast(:records as jsonb)) as r(uuid uuid, kind text, file text, key text)
  where c.company_id = :companyId and c.uuid = r.uuid`

/** Says what manages checks of one kind, null for no owner. They are locked by id first, as scans lock them. */
export async function setOwners<Row extends CheckRow>(
  trx: Transaction,
  { model, idPrefix }: Pick<StoredKind<Row>, 'model' | 'idPrefix'>,
  owned: readonly OwnedCheckId[],
): Promise<void> {
  const records = owned.map(({ id, owner }) => ({ uuid: id.slice(idPrefix.length), ...owner }))
  await lockChecksByUuid(
    trx,
    model,
    records.map(({ uuid }) => uuid),
  )
  await trx.raw(SET_OWNERS, { companyId: companyOf(trx), records: JSON.stringify(records) })
}
