import type { Destination } from 'tidemark/client'
import { useAction } from '../../lib/action.ts'
import { api } from '../../lib/api.ts'
import { canWrite } from '../../lib/session.ts'
import { notify } from '../../parts/notices.tsx'
import { Status } from '../../parts/status.tsx'
import type { Column } from '../../parts/table/data-table.tsx'
import { routingTexts } from './texts.ts'

/** Switches a destination or a rule on or off; `isActive` is how it is now. */
export function PauseButton({
  isActive,
  send,
  className = '',
  done,
}: {
  isActive: boolean
  /** Sends the change. */
  send: (isActive: boolean) => Promise<unknown>
  className?: string
  done: (isActive: boolean) => void
}) {
  const name = isActive ? routingTexts.pause : 'Resume'
  const [isBusy, run] = useAction(name, async () => {
    await send(!isActive)
    done(!isActive)
  })
  return (
    <button class={className} disabled={isBusy} onClick={run}>
      {name}
    </button>
  )
}

/** Whether a rule or a digest is active, in a word. */
export function ActiveStatus({ isActive }: { isActive: boolean }) {
  const word = isActive ? routingTexts.active : routingTexts.paused
  return <Status status={isActive ? 'ready' : 'unknown'} word={word} />
}

/** The column of a list that pauses and resumes its rows; only where a person may. */
export const pauseColumn = <Row extends { id: string; is_active: boolean }>(
  send: (id: string, isActive: boolean) => Promise<unknown>,
  done: (isActive: boolean) => void,
): Column<Row> | false =>
  canWrite() && {
    label: routingTexts.pause,
    isLabelHidden: true,
    cell: ({ id, is_active: isActive }) => (
      <PauseButton
        isActive={isActive}
        className="small"
        send={(next: boolean) => send(id, next)}
        done={done}
      />
    ),
  }

/** Pauses or resumes a destination. */
export function PauseDestination({
  destination: { id, is_active: isActive },
  className,
  reload,
}: {
  destination: Destination
  className?: string
  reload: () => void
}) {
  return (
    <PauseButton
      isActive={isActive}
      className={className}
      send={(next: boolean) =>
        api.patch('/api/v1/sdk/alerts/destinations/{id}', { path: { id }, body: { is_active: next } })
      }
      done={(next: boolean) => {
        notify(
          next
            ? 'The destination gets messages again.'
            : 'The destination gets no messages until you resume it.',
        )
        reload()
      }}
    />
  )
}
