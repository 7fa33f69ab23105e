import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'

/** A secret that the server shows once, with a button that copies it. The dialog is closed by a button only. */
export function SecretDialog({
  title,
  text,
  secret,
  close,
  children,
}: {
  title: string
  /** What it is for, and where to keep it. */
  text: string
  secret: string
  close: () => void
  /** What stands below the secret. */
  children?: ComponentChildren
}) {
  return (
    <Dialog title={title}>
      <p>{text}</p>
      <div class="secret-once">
        <code>{secret}</code>
        <CopyButton text={secret} />
      </div>
      {children}
      <p class="actions">
        <button class="primary" onClick={close}>
          Done
        </button>
      </p>
    </Dialog>
  )
}

/** Copies a text. Over plain HTTP to another host browsers allow no copying; the text can be selected then. */
export function CopyButton({
  text,
  label = 'Copy',
  isSmall = true,
}: {
  text: string
  label?: string
  isSmall?: boolean
}) {
  const [state, setState] = useState<string>()
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setState('Copied.')
    } catch {
      setState('Select the text and copy it.')
    }
  }
  return (
    <>
      <button type="button" class={isSmall ? 'small' : ''} onClick={() => void copy()}>
        {label}
      </button>
      <span role="status" class="quiet">
        {state}
      </span>
    </>
  )
}
