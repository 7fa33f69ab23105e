/** Plans and applies the files of a source. */
import { isDeepStrictEqual } from 'node:util'
import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../server/database/database.ts'
import { auditAtEnd, type AuditEvent } from '../../server/http/audit.ts'
import type { CheckOwner } from '../../server/http/check-owner.ts'
import { apiError, invalidField } from '../../server/http/errors.ts'
import type { Source } from '../catalog/api.ts'
import type { RecordEvent } from '../scans/api.ts'
import { makeKeys, refOf, subjectOf, type StoredCheck } from './keys.ts'
import { changingSteps, makePlan, type Plan, type Step, type StoredState } from './plan.ts'
import type { ReadFile } from './file/read-file.ts'
import { forgetManaged, readManaged, saveManaged, type ManagedCheck } from './store.ts'
import { assertRunnable, FaultList, kindsOf, listWanted, readWanted, type ReadCheck } from './wanted.ts'

/** What to make of a source. */
export interface MonitorsRequest {
  files: readonly ReadFile[]
  /** Removes managed checks that no file has. */
  prune: boolean
}

export interface ApplyRequest extends MonitorsRequest {
  /** The caller, as the audit log names it. */
  by: string
}

export interface PlannedMonitors {
  source: Source
  plan: Plan
}

/** The source of a request. @throws 400 for a table, 404 */
export async function findMonitored(server: Server, trx: Transaction, assetId: string): Promise<Source> {
  const { source, table } = await server.plugins.catalog.findAsset(trx, assetId)
  if (table) throw invalidField('asset_id', 'is a table, but must be a source: files name tables themselves')
  return source
}

/** All that a source has, in the caller's transaction. */
export async function readState(server: Server, trx: Transaction, source: Source): Promise<StoredState> {
  const kinds = server.plugins.scans.declaredKinds()
  const checks: StoredCheck[] = []
  for (const { kind, list } of kinds)
    checks.push(...(await list(trx, source)).map(check => ({ ...check, kind })))
  const managed = await readManaged(trx, source.id)
  const refs = new Set(managed.map(({ kind, checkId }) => refOf(kind, checkId)))
  const others = checks.filter(({ kind, id }) => !refs.has(refOf(kind, id)))
  const owners = await findOtherOwners(server, trx, others)
  const unmanaged = others.filter(check => !owners.has(check))
  const fixed = kindsOf(server)
  return {
    checks: checks.filter(check => !owners.has(check)),
    managed,
    owners,
    exportKeys: makeKeys(
      unmanaged,
      managed.map(({ key }) => key),
    ),
    fixedFields: (kind, fields) => fixed[kind].fixedFields(fields),
  }
}

/** What manages checks that no file does: contracts do. Files neither list nor take over such checks. */
async function findOtherOwners(
  server: Server,
  trx: Transaction,
  checks: readonly StoredCheck[],
): Promise<Map<StoredCheck, CheckOwner>> {
  const found = new Map<StoredCheck, CheckOwner>()
  for (const [kind, some] of Map.groupBy(checks, check => check.kind)) {
    const owners = await server.plugins.scans.findOwners(
      trx,
      kind,
      some.map(({ id }) => id),
    )
    for (const check of some) {
      const owner = owners.get(check.id)
      if (owner) found.set(check, owner)
    }
  }
  return found
}

/** A table has one freshness schedule. @throws 400 with all faults, where another owner has it */
function assertFree({ owners }: StoredState, steps: readonly Step[]): void {
  const taken = new Map<string, CheckOwner>()
  for (const [{ kind, tableId }, owner] of owners) if (kind === 'freshness') taken.set(tableId, owner)
  const faults = new FaultList()
  for (const { action, wanted } of steps) {
    const owner = wanted.kind === 'freshness' ? taken.get(wanted.table.table.id) : undefined
    if (owner && action !== 'keep')
      faults.add(
        wanted.file,
        wanted.at,
        `the table has the freshness schedule of ${owner.file}: leave one out`,
      )
  }
  faults.throwIfAny()
}

/** Plans files against a source, and asks the source about what would be created or changed. Writes nothing. */
export async function planMonitors(
  server: Server,
  companyId: string,
  assetId: string,
  { files }: MonitorsRequest,
): Promise<PlannedMonitors & { wanted: ReadCheck[] }> {
  const { source, state } = await server.db.company(companyId, async trx => {
    const found = await findMonitored(server, trx, assetId)
    return { source: found, state: await readState(server, trx, found) }
  })
  const retired = findRetired(server, state)
  const wanted = await readWanted(server, source, listWanted(source, files), retired)
  const plan = await makePlan(state, wanted)
  assertFree(state, plan.steps)
  const kinds = kindsOf(server)
  const isNew = ({ action, wanted: { kind }, changes }: Step) =>
    action !== 'change' || changes.some(({ field }) => kinds[kind].engineFields.includes(field))
  await assertRunnable(
    server,
    source,
    changingSteps(plan)
      .filter(isNew)
      .map(step => step.wanted),
  )
  return { source, plan, wanted }
}

/** A managed check keeps its table while its database lacks it, so that one dropped table does not stop all others. */
function findRetired(server: Server, { checks, managed }: StoredState): Parameters<typeof readWanted>[3] {
  const byRef = new Map(checks.map(check => [refOf(check.kind, check.id), check]))
  const byKey = new Map(managed.map(each => [each.key, byRef.get(refOf(each.kind, each.checkId))]))
  return async (trx, { key }) => {
    const stored = byKey.get(key)
    if (!stored || stored.isTableActive) return undefined
    return server.plugins.catalog.loadTable(trx, stored.tableId)
  }
}

/**
 * Makes the checks of a source those of the files, in one transaction under the lock of the source.
 * @param audit stores entries of the audit log, in the same transaction
 * @throws 409 `CONFLICT` when checks were changed between planning and applying
 */
export async function applyMonitors(
  server: Server,
  companyId: string,
  assetId: string,
  request: ApplyRequest,
  audit: (trx: Transaction, events: readonly AuditEvent[]) => Promise<unknown>,
): Promise<PlannedMonitors> {
  const { source, wanted, plan: first } = await planMonitors(server, companyId, assetId, request)
  const asked = new Set(changingSteps(first).map(step => step.wanted.key))
  return server.db.company(companyId, async trx => {
    await server.plugins.catalog.lockSource(trx, source.id)
    const plan = await makePlan(await readState(server, trx, source), wanted)
    // The engine was asked about the first plan only.
    if (changingSteps(plan).some(step => !asked.has(step.wanted.key))) throw changedMeanwhile()
    await auditAtEnd(
      events => audit(trx, events),
      record => applyPlan(server, trx, { source, plan, prune: request.prune, by: request.by }, record),
    )
    return { source, plan }
  })
}

const changedMeanwhile = () =>
  apiError('CONFLICT', 'Checks of the source were changed while this was planned: apply again')

async function applyPlan(
  server: Server,
  trx: Transaction,
  { source, plan, prune, by }: PlannedMonitors & Pick<ApplyRequest, 'prune' | 'by'>,
  record: RecordEvent,
): Promise<void> {
  const kinds = kindsOf(server)
  const remove = async ({ kind, id }: StoredCheck) => {
    if (!(await kinds[kind].remove(trx, { source, id }, record))) throw changedMeanwhile()
  }
  const removed = prune ? plan.left : []
  const managed: ManagedCheck[] = []
  const manage = ({ key, kind, file, fields }: ReadCheck, checkId: string) =>
    managed.push({ key, kind, checkId, file: file.name, applied: fields })

  // Changes that name an operating schedule lock it, which has to precede the locks of other checks.
  const steps = plan.steps.toSorted((one, other) => rank(one) - rank(other))
  for (const step of steps) {
    const { wanted, stored, changes } = step
    if (step.action !== 'change' || !stored) continue
    const values = Object.fromEntries(changes.map(change => [change.field, change.new]))
    if (!(await kinds[stored.kind].update(trx, { source, id: stored.id }, values, record)))
      throw changedMeanwhile()
    manage(wanted, stored.id)
  }
  for (const { stored } of removed) {
    await remove(stored)
    const { kind, id } = stored
    await server.plugins.scans.notifyStopped(trx, source, {
      ...{ kind, id, how: 'removed', subject: subjectOf(stored), by },
    })
  }
  for (const { action, stored } of steps) if (action === 'replace' && stored) await remove(stored)
  const created = steps.filter(({ action }) => action === 'create' || action === 'replace')
  for (const { kind, createAll } of server.plugins.scans.declaredKinds()) {
    const some = created.flatMap(({ wanted }) => (wanted.kind === kind ? [wanted] : []))
    const ids = some.length === 0 ? [] : await createAll(trx, some, record)
    for (const [index, id] of ids.entries()) manage(some[index]!, id)
  }
  for (const step of steps) if (step.stored && isRecordedAnew(step)) manage(step.wanted, step.stored.id)

  const forgotten = [...plan.stale, ...removed.map(({ managed: { key } }) => key)]
  await forgetManaged(trx, source.id, forgotten)
  await saveManaged(trx, source.id, managed)
  if (managed.length + forgotten.length > 0) await record(summaryEvent(source, plan, removed.length))
}

const rank = ({ changes }: Step) => (changes.some(({ field }) => field === 'operating_schedule_id') ? 0 : 1)

/** Whether an unchanged check gets another key or file, or what was changed on the server now stands in the file, too. */
function isRecordedAnew({ action, managed, wanted }: Step): boolean {
  if (action !== 'keep') return action === 'adopt'
  return managed?.file !== wanted.file.name || !isDeepStrictEqual(managed.applied, wanted.fields)
}

function summaryEvent(source: Source, plan: Plan, removed: number): AuditEvent {
  const count = (action: Step['action']) => plan.steps.filter(step => step.action === action).length
  return {
    action: 'monitors.applied',
    target: { type: 'source', id: source.id },
    details: {
      created: count('create'),
      changed: count('change'),
      replaced: count('replace'),
      removed,
      adopted: count('adopt'),
    },
  }
}
