import { session } from './session.ts'
import { createSignal, useSignal, type Signal } from './signal.ts'

/** The columns of each list that a person has hidden in this browser, by the key of the list. */
const known = new Map<string, Signal<readonly string[]>>()

function hiddenOf(list: string): { key: string; hidden: Signal<readonly string[]> } {
  const key = `tidemark.columns.${session.value?.user?.id ?? 'demo'}.${list}`
  if (!known.has(key)) known.set(key, createSignal(readNames(key)))
  return { key, hidden: known.get(key)! }
}

function readNames(key: string): readonly string[] {
  try {
    const names: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(names) ? names.filter(name => typeof name === 'string') : []
  } catch {
    // Without storage all columns are shown.
    return []
  }
}

/** The columns of a list that are hidden, and a function that hides others. @param list such as `checks` */
export function useHiddenColumns(
  list: string,
): [hidden: readonly string[], hide: (names: readonly string[]) => void] {
  const { key, hidden } = hiddenOf(list)
  const hide = (names: readonly string[]) => {
    hidden.set(names)
    try {
      if (names.length === 0) localStorage.removeItem(key)
      else localStorage.setItem(key, JSON.stringify(names))
    } catch {
      // They stay hidden until the page is loaded again.
    }
  }
  return [useSignal(hidden), hide]
}
