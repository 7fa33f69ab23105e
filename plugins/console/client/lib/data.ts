import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { isSignedOut } from './api.ts'
import { hasExpired } from './session.ts'
import { useSignal } from './signal.ts'

/** What a screen knows of a request. */
export interface Data<T> {
  /** The last reply; kept while it is asked for again. */
  data: T | undefined
  /** Why the last request failed. */
  error: unknown
  isLoading: boolean
  /** Asks again. */
  reload(): void
  /** Changes what is shown at once, before the server has answered. */
  update(change: (data: T) => T): void
}

interface State<T> {
  key: string | null
  data?: T
  error?: unknown
  isLoading: boolean
}

/**
 * Asks for data when a screen is shown, and again when the key changes; the request is aborted when the screen is left.
 * @param key what is asked for; null asks for nothing
 * @param pollMs asks again after so long, while the page is visible
 */
export function useData<T>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<T>,
  { pollMs = 0 } = {},
): Data<T> {
  const [state, setState] = useState<State<T>>({ key, isLoading: key !== null })
  const [round, setRound] = useState(0)
  const latest = useRef(load)
  latest.current = load
  useEffect(() => {
    if (key === null) return
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = async () => {
      try {
        const data = await latest.current(abort.signal)
        if (!abort.signal.aborted) setState({ key, data, isLoading: false })
      } catch (error) {
        if (!abort.signal.aborted)
          setState(last => ({ key, ...(last.key === key && { data: last.data }), error, isLoading: false }))
      }
      if (pollMs > 0 && !abort.signal.aborted) timer = setTimeout(poll, pollMs)
    }
    const poll = () => {
      if (document.visibilityState === 'visible') void ask()
      else document.addEventListener('visibilitychange', poll, { once: true, signal: abort.signal })
    }
    // Data stays while it is asked for again; an error without data gives way to the skeleton.
    setState(last => ({ ...(last.key === key && last.data !== undefined ? last : { key }), isLoading: true }))
    void ask()
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [key, round, pollMs])
  // After an expired session: the person goes on where they were.
  const isEnded = useSignal(hasExpired)
  useEffect(() => {
    if (!isEnded && isSignedOut(state.error)) setRound(n => n + 1)
  }, [isEnded])
  const reload = useCallback(() => setRound(n => n + 1), [])
  const update = useCallback(
    (change: (data: T) => T) =>
      setState(last => (last.data === undefined ? last : { ...last, data: change(last.data) })),
    [],
  )
  // Data of another key would be shown under the wrong title for a moment.
  const current = state.key === key ? state : { key, isLoading: key !== null }
  return { data: current.data, error: current.error, isLoading: current.isLoading, reload, update }
}

/** A value that follows another one once it has not changed for a while: for searching as a person types. */
export function useDebounced<T>(value: T, milliseconds: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds)
    return () => clearTimeout(timer)
  }, [value, milliseconds])
  return settled
}
