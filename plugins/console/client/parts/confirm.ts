import { useState } from 'preact/hooks'
import { html, type Children } from '../lib/html.ts'
import { texts } from '../texts.ts'
import { Dialog } from './dialog.ts'
import { describeError } from './states.ts'

/** Asks before something that cannot be undone, does it, and closes. What failed is shown, and can be tried again. */
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
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')
  const run = async () => {
    setBusy(true)
    try {
      await work()
      close()
    } catch (error) {
      setProblem(describeError(error))
      setBusy(false)
    }
  }
  return html`<${Dialog} title=${title} close=${close}>
    ${children} ${problem && html`<p class="bad" role="alert">${problem}</p>`}
    <p class="actions">
      <button autofocus onClick=${close}>${texts.cancel}</button>
      <button class="destructive" disabled=${isBusy} onClick=${() => void run()}>${action}</button>
    </p>
  <//>`
}
