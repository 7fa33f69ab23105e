import { useEffect, useRef } from 'preact/hooks'

/** What a key does, and the sentence of the help. */
export interface KeyAction {
  keys: string
  text: string
  run(event: KeyboardEvent): void
}

/** Actions of the screens that are shown, the innermost last; the help lists them. */
const layers: { current: readonly KeyAction[] }[] = []
/** The first key of a pair such as `g a`. */
let prefix = ''
let forget: ReturnType<typeof setTimeout> | undefined

/** The actions that apply at the moment. */
export function listKeys(): readonly KeyAction[] {
  return layers.flatMap(layer => layer.current)
}

/** Makes keys work while a component is shown. In fields they write; with a modifier they are the browser's. */
export function useKeys(actions: readonly KeyAction[]): void {
  const layer = useRef(actions)
  layer.current = actions
  useEffect(() => {
    layers.push(layer)
    return () => void layers.splice(layers.indexOf(layer), 1)
  }, [])
}

export function listenToKeys(): void {
  document.addEventListener('keydown', event => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    const target = event.target as HTMLElement
    if (target.closest('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]'))
      return
    // A dialog has its own keys.
    if (document.querySelector('dialog[open]')) return
    const pressed = prefix ? `${prefix} ${event.key}` : event.key
    // Enter on a link or a button is theirs.
    if (event.key === 'Enter' && target.closest('a, button, summary')) return
    const action = listKeys().findLast(({ keys }) => keys === pressed)
    clearTimeout(forget)
    const isPrefix = !prefix && listKeys().some(({ keys }) => keys.startsWith(`${pressed} `))
    prefix = !action && isPrefix ? pressed : ''
    if (prefix) forget = setTimeout(() => (prefix = ''), 1_500)
    if (!action) return
    event.preventDefault()
    action.run(event)
  })
}
