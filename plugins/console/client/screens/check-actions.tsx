import { useState } from 'preact/hooks'
import { countOf } from '../lib/format.ts'
import { deleteCheck, isCheckKind, runCheck, updateCheck } from '../checks/requests.ts'
import { workOnEach } from '../lib/bulk.ts'
import { canWrite } from '../lib/session.ts'
import type { Check } from '../parts/check-cells.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { notify } from '../parts/notices.tsx'
import { describeError } from '../parts/states.tsx'
import { texts } from '../texts.ts'

const checkTexts = {
  remove: 'Delete',
  done: { pause: 'paused', resume: 'resumed', run: 'run', remove: 'deleted' },
  more: (count: number) => `and ${count.toLocaleString('en-GB')} more`,
} as const

type Action = 'run' | 'pause' | 'resume' | 'remove'

const ACTIONS: readonly { action: Action; name: string; applies(check: Check): boolean }[] = [
  { action: 'run', name: texts.checkNow, applies: () => true },
  { action: 'pause', name: 'Pause', applies: ({ is_active: isActive }) => isActive },
  { action: 'resume', name: 'Resume', applies: ({ is_active: isActive }) => !isActive },
  { action: 'remove', name: checkTexts.remove, applies: () => true },
]

async function act(action: Action, check: Check): Promise<Check> {
  const { asset_id: table, id } = check
  if (action === 'run') await runCheck(table, id)
  else if (action === 'remove') await deleteCheck(table, id)
  else await updateCheck(table, id, { is_active: action === 'resume' })
  return check
}

/** @returns whether all checks were changed */
async function actOnAll(action: Action, checks: readonly Check[], changed: Changed): Promise<boolean> {
  const { results, errors } = await workOnEach(checks, check => act(action, check))
  if (errors.length > 0)
    notify(`${errors.length} of ${checks.length} checks could not be changed. ${describeError(errors[0])}`, {
      isError: true,
    })
  else notify(`${countOf(results.length, 'check')} ${checkTexts.done[action]}.`)
  changed(results)
  return errors.length === 0
}

type Changed = (changed: readonly Check[]) => void

/**
 * What can be done with checks of the list: buttons, and a question before they are deleted. None for a viewer, and for
 * checks of kinds that extensions add: the API alone changes those.
 */
export function CheckActions({ checks: chosen, changed }: { checks: readonly Check[]; changed: Changed }) {
  const checks = chosen.filter(({ kind }) => isCheckKind(kind))
  const [busy, setBusy] = useState<Action | null>(null)
  const [isAsked, setAsked] = useState(false)
  const run = async (action: Action) => {
    setBusy(action)
    const those = checks.filter(check => ACTIONS.find(known => known.action === action)!.applies(check))
    if (await actOnAll(action, those, changed)) setAsked(false)
    setBusy(null)
  }
  if (!canWrite()) return null
  return (
    <>
      <span class="actions">
        {ACTIONS.filter(({ applies }) => checks.some(applies)).map(({ action, name }) => (
          <button
            key={action}
            disabled={busy !== null}
            onClick={() => (action === 'remove' ? setAsked(true) : void run(action))}
          >
            {busy === 'run' && action === 'run' ? texts.checking : name}
          </button>
        ))}
      </span>
      {isAsked && (
        <RemoveDialog
          checks={checks}
          isBusy={busy !== null}
          close={() => setAsked(false)}
          remove={() => void run('remove')}
        />
      )}
    </>
  )
}

const MAX_NAMED = 8

function RemoveDialog({
  checks,
  isBusy,
  close,
  remove,
}: {
  checks: readonly Check[]
  isBusy: boolean
  close: () => void
  remove: () => void
}) {
  return (
    <Dialog title={`Delete ${countOf(checks.length, 'check')}?`} close={close}>
      <ul>
        {checks.slice(0, MAX_NAMED).map(({ id, title }) => (
          <li key={id}>
            <bdi>{title}</bdi>
          </li>
        ))}
        {checks.length > MAX_NAMED && <li class="quiet">{checkTexts.more(checks.length - MAX_NAMED)}</li>}
      </ul>
      <p>Their results are deleted, too. It cannot be undone; a paused check keeps its results.</p>
      <p class="actions">
        <button autofocus onClick={close}>
          {texts.cancel}
        </button>
        <button class="primary" disabled={isBusy} onClick={remove}>
          {checkTexts.remove}
        </button>
      </p>
    </Dialog>
  )
}
