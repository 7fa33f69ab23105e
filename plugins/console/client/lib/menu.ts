import { useEffect, useRef } from 'preact/hooks'
import type { RefObject } from 'preact'

/** For a `details` that is a menu: a click elsewhere and Escape close it. */
export function useMenu(): RefObject<HTMLDetailsElement | null> {
  const menu = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const close = (event: Event) => {
      const { current } = menu
      if (!current?.open) return
      if (event instanceof KeyboardEvent ? event.key === 'Escape' : !event.composedPath().includes(current))
        current.open = false
    }
    document.addEventListener('click', close)
    document.addEventListener('keydown', close)
    return () => {
      document.removeEventListener('click', close)
      document.removeEventListener('keydown', close)
    }
  }, [])
  return menu
}

/** Closes a menu when something of it was chosen. */
export function closeOnChoice(event: Event): void {
  if ((event.target as Element).closest('div a, div button'))
    (event.currentTarget as HTMLDetailsElement).open = false
}
