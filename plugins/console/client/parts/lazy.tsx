import type { ComponentChild, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Failure, Skeleton } from './states.tsx'
import { texts } from '../texts.ts'

export type LazyComponent<P> = ComponentType<P> & { preload(): Promise<void> }

/**
 * A component whose module is loaded when it is first shown, so that other screens need not wait for it.
 * @param placeholder has its size until then
 */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  placeholder = (): ComponentChild => (
    <div class="page">
      <Skeleton rows={7} />
    </div>
  ),
): LazyComponent<P> {
  let loaded: ComponentType<P> | undefined
  const preload = async () => {
    loaded ??= await load()
  }
  function Lazy(props: P) {
    const [Component, setComponent] = useState<ComponentType<P> | undefined>(() => loaded)
    const [error, setError] = useState<unknown>()
    useEffect(() => {
      if (!Component) preload().then(() => setComponent(() => loaded), setError)
    }, [])
    if (error)
      return (
        <Failure
          what={texts.thisPart}
          error={new Error('The server is away, or a new version was installed: reload the page.')}
          retry={() => location.reload()}
        />
      )
    return Component ? <Component {...props} /> : placeholder()
  }
  return Object.assign(Lazy, { preload })
}
