import { useAction } from '../lib/action.ts'
import { html, type Children } from '../lib/html.ts'
import { texts } from '../texts.ts'
import { Dialog } from './dialog.ts'

/** Asks before something that cannot be undone, does it, and closes. What failed can be tried again. */
export function ConfirmDialog({
  title,
  action,
  work,
  close,
  children,
}: {
  title: string
  /** What the button is called. */
  action: string
  work: () => Promise<void>
  close: () => void
  /** What will happen. */
  children: Children
}) {
  const [isBusy, run] = useAction(action, async () => {
    await work()
    close()
  })
  return html`<${Dialog} title=${title} close=${close}>
    ${children}
    <p class="actions">
      <button autofocus onClick=${close}>${texts.cancel}</button>
      <button class="destructive" disabled=${isBusy} onClick=${run}>${action}</button>
    </p>
  <//>`
}
