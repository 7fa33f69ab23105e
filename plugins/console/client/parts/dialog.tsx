import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { texts } from '../texts.ts'
import { Icon } from './icons.tsx'

/** A modal dialog; the browser keeps the focus in it, and gives it back when it closes. */
export function Dialog({
  title,
  close,
  children,
  className = '',
}: {
  title: string
  /** Absent for a dialog that must be answered. */
  close?: () => void
  children: ComponentChildren
  className?: string
}) {
  const element = useRef<HTMLDialogElement>(null)
  // Before the next paint: what a person types right after the key that opens it belongs into it.
  useLayoutEffect(() => {
    const { current } = element
    const before = document.activeElement
    current?.showModal()
    // Else the button that closes it would have the focus.
    const first =
      current?.querySelector<HTMLElement>('[autofocus]') ??
      current?.querySelector('input, select, textarea, .primary')
    ;(first as HTMLElement | null | undefined)?.focus()
    return () => {
      current?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={element}
      class={className}
      aria-label={title}
      onCancel={(event: Event) => {
        event.preventDefault()
        close?.()
      }}
      onClose={() => {
        // Browsers close a dialog at the second Escape, whatever `cancel` says.
        if (!close && element.current?.isConnected) element.current.showModal()
      }}
      onClick={(event: Event) => event.target === element.current && close?.()}
    >
      <div class="dialog">
        <header>
          <h2>{title}</h2>
          {close && (
            <button class="plain" aria-label={texts.close} onClick={close}>
              <Icon name="close" />
            </button>
          )}
        </header>
        {children}
      </div>
    </dialog>
  )
}
