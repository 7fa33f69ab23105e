import { Component, type ComponentChildren } from 'preact'
import { texts } from '../texts.ts'
import { Failure } from './states.tsx'

/** Keeps an error of one screen from removing the whole page. */
export class Boundary extends Component<{ path: string; children: ComponentChildren }, { error?: Error }> {
  override state: { error?: Error } = {}

  static override getDerivedStateFromError(error: Error) {
    return { error }
  }

  /** Another place deserves another try. */
  override componentDidUpdate({ path }: { path: string }) {
    if (this.state.error && path !== this.props.path) this.setState({ error: undefined })
  }

  override render() {
    const { error } = this.state
    if (!error) return this.props.children
    return <Failure what={texts.thisPart} error={error} retry={() => this.setState({ error: undefined })} />
  }
}
