import type { Alert } from 'tidemark/client'
import { countOf } from '../lib/format.ts'
import { api } from '../lib/api.ts'
import { workOnEach } from '../lib/bulk.ts'
import { canWrite } from '../lib/session.ts'
import { notify } from '../parts/notices.tsx'
import { describeError } from '../parts/states.tsx'
import { texts } from '../texts.ts'

/** What a person can do with an alert. */
export type Move = 'acknowledge' | 'snooze' | 'resolve' | 'dismiss'

/** Moves with their keys and the states that they apply to. */
export const MOVES: readonly { move: Move; key: string; name: string; from: readonly Alert['status'][] }[] = [
  { move: 'acknowledge', key: 'a', name: 'Acknowledge', from: ['triggered'] },
  { move: 'snooze', key: 's', name: 'Snooze', from: ['triggered', 'acknowledged', 'snoozed'] },
  { move: 'resolve', key: 'e', name: 'Resolve', from: ['triggered', 'acknowledged', 'snoozed'] },
  { move: 'dismiss', key: 'd', name: 'Dismiss as expected', from: ['triggered', 'acknowledged', 'snoozed'] },
]

const isAllowed = (alert: Alert, move: Move): boolean =>
  MOVES.some(known => known.move === move && known.from.includes(alert.status))

/** A move that waits for its reason or its span, and the alerts that it is for. */
export interface PendingMove {
  move: Move
  alerts: readonly Alert[]
}

/** Begins a move. An acknowledgement is made at once; the others are asked about first. */
export function beginMove(
  move: Move,
  alerts: readonly Alert[],
  { ask, moved }: { ask: (pending: PendingMove) => void; moved: (changed: readonly Alert[]) => void },
): void {
  const movable = alerts.filter(alert => isAllowed(alert, move))
  if (movable.length === 0 || !canWrite()) return
  if (move === 'acknowledge') void makeMove(move, movable, {}, moved)
  else ask({ move, alerts: movable })
}

/** @returns whether all alerts were changed */
export async function makeMove(
  move: Move,
  alerts: readonly Alert[],
  body: { reason?: string; root_cause_detail?: string; duration_hours?: number },
  moved: (changed: readonly Alert[]) => void,
): Promise<boolean> {
  const { results: changed, errors } = await workOnEach(alerts, async ({ id }) => {
    const path = `/api/v1/sdk/alerts/{id}/${move}` as '/api/v1/sdk/alerts/{id}/resolve'
    return (await api.post(path, { path: { id }, body })).data
  })
  moved(changed)
  if (errors.length > 0)
    notify(`${errors.length} of ${alerts.length} alerts could not be changed. ${describeError(errors[0])}`, {
      isError: true,
    })
  else notify(`${countOf(changed.length, 'alert')} ${texts.done[move]}.`)
  return errors.length === 0
}

/** Buttons of the moves that apply to any of the alerts; none for a viewer. */
export function MoveButtons({ alerts, begin }: { alerts: readonly Alert[]; begin: (move: Move) => void }) {
  if (!canWrite()) return null
  return (
    <span class="actions">
      {MOVES.filter(({ move }) => alerts.some(alert => isAllowed(alert, move))).map(({ move, name, key }) => (
        <button key={move} onClick={() => begin(move)} aria-keyshortcuts={key}>
          {name} <kbd aria-hidden="true">{key}</kbd>
        </button>
      ))}
    </span>
  )
}
