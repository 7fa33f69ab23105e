import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { texts } from '../texts.ts'
import { Dialog } from './dialog.tsx'
import { describeError } from './states.tsx'

/** Asks before something is done, does it, and closes. What failed is shown, and can be tried again. */
export function ConfirmDialog({
  title,
  action,
  isHarmless = false,
  work,
  close,
  children,
}: {
  title: string
  /** What the button is called. */
  action: string
  /** Whether it can be undone, so that the button does not warn. */
  isHarmless?: boolean
  work: () => Promise<void>
  close: () => void
  /** What will happen. */
  children: ComponentChildren
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
  return (
    <Dialog title={title} close={close}>
      {children}{' '}
      {problem && (
        <p class="bad" role="alert">
          {problem}
        </p>
      )}
      <p class="actions">
        <button autofocus onClick={close}>
          {texts.cancel}
        </button>
        <button class={isHarmless ? 'primary' : 'destructive'} disabled={isBusy} onClick={() => void run()}>
          {action}
        </button>
      </p>
    </Dialog>
  )
}
