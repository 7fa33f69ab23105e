/** Carries out a plan: the one way in which checks are created, changed and removed for an owner. */
import type { Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import type { Source } from '../../catalog/api.ts'
import type { DeclaredChecks, RecordEvent, StopListener } from '../declared/declared-checks.ts'
import { subjectOf } from './same-check.ts'
import type { Owner, Plan, Step, StoredCheck, WantedCheck } from './wanted-check.ts'

/** How a plan is carried out. */
export interface CarryingOut<Wanted extends WantedCheck> {
  owner: Pick<Owner, 'kind'>
  /** What the file is called that a check is wanted by. */
  fileOf(wanted: Wanted): string
  /** Receives what belongs into the audit log. */
  record: RecordEvent
  /**
   * The caller, as the audit log names it, on whose behalf unwanted checks are removed: with it, those that listen to removals
   * are called.
   */
  stoppedBy?: string
}

interface Deps {
  kinds: readonly DeclaredChecks[]
  notifyStopped: StopListener
}

/**
 * Carries out a plan in the transaction that it was made in; the caller holds the lock of the source.
 * @returns the ids of the wanted checks, without those of refused ones
 * @throws 409 `CONFLICT` when a check that is to be changed is gone
 */
export async function carryOut<Wanted extends WantedCheck>(
  { kinds, notifyStopped }: Deps,
  trx: Transaction,
  source: Source,
  { steps, removed }: Plan<Wanted>,
  { owner, fileOf, record, stoppedBy: by }: CarryingOut<Wanted>,
): Promise<Map<Wanted, string>> {
  const kindOf = new Map(kinds.map(declared => [declared.kind, declared]))
  const remove = ({ kind, id }: StoredCheck) => kindOf.get(kind)!.remove(trx, { source, id }, record)
  const ids = new Map<Wanted, string>()
  const ownerOf = (wanted: Wanted) => ({ kind: owner.kind, file: fileOf(wanted), key: wanted.key })

  // Changes that name an operating schedule lock it, which has to precede the locks of other checks.
  for (const { action, wanted, stored, changes } of steps.toSorted((one, other) => rank(one) - rank(other))) {
    if (!stored) continue
    if (stays(action)) ids.set(wanted, stored.id)
    if (action !== 'change') continue
    const values = Object.fromEntries(changes.map(change => [change.field, change.new]))
    if (!(await kindOf.get(stored.kind)!.update(trx, { source, id: stored.id }, values, record)))
      throw changedMeanwhile()
  }
  const staying = steps.filter(step => isOwnedAnew(step, fileOf(step.wanted)))
  for (const { kind, setOwners } of kinds) {
    const owned = staying.flatMap(({ wanted, stored }) =>
      stored?.kind === kind ? [{ id: stored.id, owner: ownerOf(wanted) }] : [],
    )
    if (owned.length > 0) await setOwners(trx, owned)
  }
  for (const { stored } of removed) {
    await remove(stored)
    const { kind, id } = stored
    if (by !== undefined)
      await notifyStopped(trx, source, { kind, id, how: 'removed', subject: subjectOf(stored), by })
  }
  for (const { action, stored } of steps)
    if (stored && (action === 'replace' || action === 'refuse')) await remove(stored)
  const created = steps.filter(({ action }) => action === 'create' || action === 'replace')
  for (const { kind, createAll } of kinds) {
    const some = created.flatMap(({ wanted }) => (wanted.kind === kind ? [wanted] : []))
    if (some.length === 0) continue
    const owned = some.map(wanted => ({ ...wanted, owner: ownerOf(wanted) }))
    for (const [index, id] of (await createAll(trx, owned, record)).entries()) ids.set(some[index]!, id)
  }
  return ids
}

const stays = (action: Step<WantedCheck>['action']) =>
  action === 'keep' || action === 'adopt' || action === 'change'

/** Whether a check that stays has another owner, file or key than before. */
function isOwnedAnew({ action, wanted, stored }: Step<WantedCheck>, file: string): boolean {
  return stays(action) && (stored?.owner?.file !== file || stored.owner.key !== wanted.key)
}

const rank = ({ changes }: Step<WantedCheck>) =>
  changes.some(({ field }) => field === 'operating_schedule_id') ? 0 : 1

/** What was planned stands no more. */
export const changedMeanwhile = (): Error =>
  apiError('CONFLICT', 'Checks of the source were changed while this was planned: apply again')
