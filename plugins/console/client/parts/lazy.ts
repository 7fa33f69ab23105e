import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { html } from '../lib/html.ts'
import { Failure, Skeleton } from './states.ts'
import { texts } from '../texts.ts'

/** A component whose module is loaded when it is first shown, so that other screens need not wait for it. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined
  return function Lazy(props: P) {
    const [component, setComponent] = useState<ComponentType<P> | undefined>(() => loaded)
    const [error, setError] = useState<unknown>()
    useEffect(() => {
      if (!component)
        load().then(made => {
          loaded = made
          setComponent(() => made)
        }, setError)
    }, [])
    if (error)
      return html`<${Failure}
        what=${texts.thisPart}
        error=${new Error(texts.reloadPage)}
        retry=${() => location.reload()}
      />`
    return component ? html`<${component} ...${props} />` : html`<${Skeleton} rows=${7} />`
  }
}
