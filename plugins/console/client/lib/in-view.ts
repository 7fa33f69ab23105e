import { useEffect, useRef, useState } from 'preact/hooks'
import type { RefObject } from 'preact'

/** Whether an element was in view once, or near: what it needs is not asked for before. */
export function useInView<E extends Element>(): [ref: RefObject<E | null>, wasInView: boolean] {
  const ref = useRef<E>(null)
  const [wasInView, setInView] = useState(false)
  useEffect(() => {
    const { current } = ref
    if (!current || wasInView) return
    const observer = new IntersectionObserver(entries => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setInView(true)
    })
    observer.observe(current)
    return () => observer.disconnect()
  }, [wasInView])
  return [ref, wasInView]
}
