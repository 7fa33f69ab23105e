import { useState } from 'preact/hooks'
import type { Alert } from 'tidemark/client'
import { countOf } from '../lib/format.ts'
import { Dialog } from '../parts/dialog.tsx'
import { texts } from '../texts.ts'
import { makeMove, MOVES, type PendingMove } from './alert-moves.tsx'

const SPANS: readonly [hours: number, name: string][] = [
  [1, texts.hour],
  [4, texts.fourHours],
  [24, texts.day],
  [168, texts.week],
]

/** Asks for how long, or why. */
export function MoveDialog({
  pending: { move, alerts },
  close,
  moved,
}: {
  pending: PendingMove
  close: () => void
  moved: (changed: readonly Alert[]) => void
}) {
  const [isBusy, setBusy] = useState(false)
  const name = MOVES.find(known => known.move === move)!.name
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setBusy(true)
    const { hours, reason } = Object.fromEntries(new FormData(event.currentTarget as HTMLFormElement)) as {
      hours?: string
      reason?: string
    }
    const text = reason?.trim()
    const body =
      move === 'dismiss'
        ? // With this reason a learned band includes the values from now on.
          { reason: 'expected', ...(text && { root_cause_detail: text }) }
        : { ...(text && { reason: text }), ...(hours && { duration_hours: Number(hours) }) }
    // What failed can be tried again with the same words.
    if (await makeMove(move, alerts, body, moved)) close()
    else setBusy(false)
  }
  return (
    <Dialog title={`${name}: ${countOf(alerts.length, 'alert')}`} close={close}>
      <form onSubmit={(event: SubmitEvent) => void submit(event)}>
        {alerts.length === 1 && (
          <p class="quiet">
            <bdi>{alerts[0]!.title}</bdi>
          </p>
        )}
        {move === 'snooze' && (
          <fieldset class="choices">
            <legend>Snooze for</legend>
            {SPANS.map(([hours, text], n) => (
              <label key={hours}>
                <input type="radio" name="hours" value={hours} defaultChecked={n === 2} /> {text}
              </label>
            ))}
          </fieldset>
        )}
        <label class="field">
          <span>Reason (optional)</span>
          <textarea name="reason" rows={2} maxlength={2000} />
        </label>
        <p class="actions">
          <button type="button" onClick={close}>
            {texts.cancel}
          </button>
          <button class="primary" autofocus disabled={isBusy}>
            {name}
          </button>
        </p>
      </form>
    </Dialog>
  )
}
