import type { Destination } from 'tidemark/client'
import { useAction } from '../../lib/action.ts'
import { api } from '../../lib/api.ts'
import { html } from '../../lib/html.ts'
import { notify } from '../../parts/notices.ts'
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
  return html`<button class=${className} disabled=${isBusy} onClick=${run}>${name}</button>`
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
  return html`<${PauseButton}
    isActive=${isActive}
    className=${className}
    send=${(next: boolean) =>
      api.patch('/api/v1/sdk/alerts/destinations/{id}', { path: { id }, body: { is_active: next } })}
    done=${(next: boolean) => {
      notify(
        next
          ? 'The destination gets messages again.'
          : 'The destination gets no messages until you resume it.',
      )
      reload()
    }}
  />`
}
