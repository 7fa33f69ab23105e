import { useEffect, useState } from 'preact/hooks'

/** A value that screens follow. */
export interface Signal<T> {
  readonly value: T
  set(value: T): void
  /** @returns a function that ends the subscription */
  subscribe(listener: (value: T) => void): () => void
}

export function createSignal<T>(initial: T): Signal<T> {
  let value = initial
  const listeners = new Set<(value: T) => void>()
  return {
    get value() {
      return value
    },
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener(value)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** The value of a signal; the component is rendered again when it changes. */
export function useSignal<T>(signal: Signal<T>): T {
  const [value, setValue] = useState(signal.value)
  useEffect(() => {
    // It may have changed between the rendering and this effect.
    setValue(signal.value)
    return signal.subscribe(setValue)
  }, [signal])
  return value
}
