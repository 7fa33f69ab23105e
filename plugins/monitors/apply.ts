/** Plans and applies the files of a source. */
import { isDeepStrictEqual } from 'node:util'
import type { Transaction } from '../../server/database/database.ts'
import { auditAtEnd, type AuditEvent } from '../../server/http/audit.ts'
import { invalidField } from '../../server/http/errors.ts'
import type { Source } from '../catalog/api.ts'
import type { Owner, Plan, Step } from '../checks/api.ts'
import { exportMonitors } from './export.ts'
import { FaultList } from './faults.ts'
import type { MonitorsDocument } from './file/monitors-file.ts'
import type { ReadFile } from './file/read-file.ts'
import { makeKeys } from './keys.ts'
import { changedWindows, storeWindows, type WantedWindow } from './table-windows.ts'
import { forgetManaged, readManaged, saveManaged, type FileManagedCheck } from './store.ts'
import { assertRunnable, listWanted, readWanted, type MonitorsDeps, type WantedFileCheck } from './wanted.ts'

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

type FilePlan = Plan<WantedFileCheck>
type FileStep = Step<WantedFileCheck>

export interface PlannedMonitors {
  source: Source
  plan: FilePlan
  /** The default windows of tables that differ from those of the files. */
  windows: WantedWindow[]
}

export type Monitors = ReturnType<typeof makeMonitors>

/** Checks that stand in files. */
export function makeMonitors(deps: MonitorsDeps) {
  const { db, catalog, checks } = deps
  const { reconciler } = checks

  /** The source of a request. @throws 400 for a table, 404 */
  async function findSource(trx: Transaction, assetId: string): Promise<Source> {
    const { source, table } = await catalog.findAsset(trx, assetId)
    if (table)
      throw invalidField('asset_id', 'is a table, but must be a source: files name tables themselves')
    return source
  }

  /**
   * The checks of a source as a file.
   * @param checkId the only check to export; its key is the one that it has in the whole file
   * @throws 400 for a table, 404
   */
  async function exportSource(
    trx: Transaction,
    assetId: string,
    checkId?: string,
  ): Promise<MonitorsDocument> {
    const source = await findSource(trx, assetId)
    const state = await reconciler.readState(trx, source, await readFiles(trx, source))
    return exportMonitors(source, state, await catalog.windowedTables(trx, source.id), checkId)
  }

  /** Plans files against a source, and asks the source about what would be created or changed. Writes nothing. */
  async function plan(
    companyId: string,
    assetId: string,
    { files, prune }: MonitorsRequest,
  ): Promise<PlannedMonitors & { wanted: WantedFileCheck[] }> {
    const { source, state } = await db.company(companyId, async trx => {
      const asset = await findSource(trx, assetId)
      return { source: asset, state: await reconciler.readState(trx, asset, await readFiles(trx, asset)) }
    })
    const known = new Map(state.owned.map(({ managed, stored }) => [managed.key, stored]))
    const listed = { files, wanted: listWanted(source, files), known }
    const { wanted, windows } = await readWanted(deps, source, listed)
    const planned = await reconciler.plan(state, { wanted, prune })
    assertFree(planned)
    const changing = planned.steps.filter(step => reconciler.isChange(step) && isForEngine(step))
    await assertRunnable(
      deps,
      source,
      changing.map(step => step.wanted),
    )
    return { source, plan: planned, wanted, windows: changedWindows(windows) }
  }

  /** Whether the engine has to be asked about a check that is created or changed. */
  function isForEngine({ action, wanted, changes }: FileStep): boolean {
    if (action !== 'change') return true
    const { engineFields = [] } = checks.declaredKinds().find(({ kind }) => kind === wanted.kind) ?? {}
    return changes.some(({ field }) => engineFields.includes(field))
  }

  /**
   * Makes the checks of a source those of the files, in one transaction under the lock of the source.
   * @param audit stores entries of the audit log, in the same transaction
   * @throws 409 `CONFLICT` when checks were changed between planning and applying
   */
  async function apply(
    companyId: string,
    assetId: string,
    request: ApplyRequest,
    audit: (trx: Transaction, events: readonly AuditEvent[]) => Promise<unknown>,
  ): Promise<PlannedMonitors> {
    const { source, wanted, windows, plan: expected } = await plan(companyId, assetId, request)
    const { prune, by: stoppedBy } = request
    return db.company(companyId, async trx => {
      await catalog.lockSource(trx, source.id)
      const owner = await readFiles(trx, source)
      const applied = await auditAtEnd(
        events => audit(trx, events),
        async record => {
          const fileOf = ({ file }: WantedFileCheck) => file.name
          const asked = { owner, fileOf, wanted, prune, expected, record, stoppedBy }
          const done = await reconciler.reconcile(trx, source, asked)
          await storeWindows(catalog, trx, windows, record)
          const isNoted = await noteApplied(trx, source, done)
          if (isNoted || windows.length > 0) await record(summaryEvent(source, done))
          return done
        },
      )
      return { source, plan: applied, windows }
    })
  }

  return { exportSource, plan, apply }
}

/** The files of a source as an owner of checks; they take over what has no owner. */
async function readFiles(trx: Transaction, source: Source): Promise<Owner> {
  const managed = await readManaged(trx, source.id)
  const keys = managed.map(({ key }) => key)
  return { kind: 'file', managed, nameUnmanaged: checks => makeKeys(checks, keys) }
}

/** A table has one freshness schedule. @throws 400 with all faults, where another owner has it */
function assertFree({ steps }: FilePlan): void {
  const faults = new FaultList()
  for (const { action, wanted, refusedBy } of steps)
    if (action === 'refuse')
      faults.add(
        wanted.file,
        wanted.at,
        `the table has the freshness schedule of ${refusedBy?.file ?? 'another check'}: leave one out`,
      )
  faults.throwIfAny()
}

/** Notes which checks the files manage from now on. @returns whether that is news */
async function noteApplied(
  trx: Transaction,
  source: Source,
  { steps, removed, stale, ids }: FilePlan & { ids: ReadonlyMap<WantedFileCheck, string> },
): Promise<boolean> {
  const managed = steps.filter(isRecordedAnew).map(({ wanted }): FileManagedCheck => {
    const { key, kind, file, fields } = wanted
    return { key, kind, checkId: ids.get(wanted)!, file: file.name, applied: fields }
  })
  const forgotten = [...stale, ...removed.map(({ managed: { key } }) => key)]
  await forgetManaged(trx, source.id, forgotten)
  await saveManaged(trx, source.id, managed)
  return managed.length + forgotten.length > 0
}

/** Whether a check is new or changed, has another key or file, or what was changed on the server stands in the file, too. */
function isRecordedAnew({ action, managed, wanted }: FileStep): boolean {
  if (action !== 'keep') return true
  return managed?.file !== wanted.file.name || !isDeepStrictEqual(managed.applied, wanted.fields)
}

/** How many steps of a plan are of one kind. */
export function countSteps({ steps }: FilePlan, action: FileStep['action']): number {
  return steps.filter(step => step.action === action).length
}

function summaryEvent(source: Source, plan: FilePlan): AuditEvent {
  return {
    action: 'monitors.applied',
    target: { type: 'source', id: source.id },
    details: {
      created: countSteps(plan, 'create'),
      changed: countSteps(plan, 'change'),
      replaced: countSteps(plan, 'replace'),
      removed: plan.removed.length,
      adopted: countSteps(plan, 'adopt'),
    },
  }
}
