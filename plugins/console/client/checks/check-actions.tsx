import { useEffect, useState } from 'preact/hooks'
import type { ManagedBy } from 'tidemark/client'
import { useAction } from '../lib/action.ts'
import { changeQuery, withQuery } from '../lib/router.ts'
import { canWrite } from '../lib/session.ts'
import { ConfirmDialog } from '../parts/confirm.tsx'
import { notify } from '../parts/notices.tsx'
import { tuningTexts } from './texts.ts'
import { AsCode } from '../screens/code/as-code.tsx'
import { ManagedNote, RemovalNote } from './managed-note.tsx'
import { deleteCheck, runCheck, updateCheck, type CheckRun } from './requests.ts'

/** What a person may do with a check: run it now, edit, pause, delete, read it as code. */
export function CheckActions({
  source,
  table,
  check,
  ran,
  changed,
}: {
  source: string
  table: string
  check: { id: string; title: string; is_active: boolean; managed_by?: ManagedBy }
  /** The check was run. */
  ran: (run: CheckRun) => void
  /** The check has changed, so that lists must be loaded again. */
  changed: () => void
}) {
  const { id, title, is_active: isActive } = check
  const [isAsking, setAsking] = useState(false)
  const [isRunning, run] = useAction(tuningTexts.runNow, async () => {
    const run = await runCheck(table, id)
    const { status, message } = run
    ran(run)
    const ending = status === 'pass' ? 'passed' : status === 'fail' ? 'failed' : 'error'
    notify([tuningTexts.ran[ending], message].filter(Boolean).join(' '), { isError: ending === 'error' })
    changed()
  })
  const [isChanging, toggle] = useAction(isActive ? tuningTexts.pause : tuningTexts.resume, async () => {
    await updateCheck(table, id, { is_active: !isActive })
    notify(isActive ? 'The check is paused. An open alert of it was closed.' : 'The check runs again.')
    changed()
  })
  const remove = async () => {
    await deleteCheck(table, id)
    notify(`${title} was deleted.`)
    changeQuery({ check: null })
    changed()
  }
  const isBusy = isRunning || isChanging
  return (
    <>
      <p class="actions above check-actions">
        {canWrite() && (
          <>
            {' '}
            <button disabled={isBusy} onClick={run}>
              {isRunning ? <Seconds /> : tuningTexts.runNow}
            </button>
            <a class="button" href={withQuery(location.pathname, { edit: id })}>
              Edit
            </a>
            <button disabled={isBusy} onClick={toggle}>
              {isActive ? tuningTexts.pause : tuningTexts.resume}
            </button>
            <button disabled={isBusy} onClick={() => setAsking(true)}>
              {tuningTexts.remove}
            </button>
          </>
        )}
        <AsCode source={source} id={id} />
      </p>
      <ManagedNote owner={check.managed_by} />
      {isAsking && (
        <ConfirmDialog
          title={`Delete ${title}?`}
          action={tuningTexts.remove}
          work={remove}
          close={() => setAsking(false)}
        >
          <p>
            Its results, what it has learned and its configuration are lost. An open alert of it is closed.
            This cannot be undone; to stop it for a while, pause it.
          </p>
          <RemovalNote table={table} id={id} />
        </ConfirmDialog>
      )}{' '}
    </>
  )
}

/** How long a run takes: a source says nothing of how far a statement is. */
function Seconds() {
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setSeconds(count => count + 1), 1_000)
    return () => clearInterval(timer)
  }, [])
  return tuningTexts.running(seconds)
}
