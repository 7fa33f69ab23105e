import type { CheckType } from 'tidemark/check'
import type { Connector } from 'tidemark/connector'
import { sqlite } from './connector.ts'
import { meanLength } from './mean-length.ts'

/** The part of the host's hapi server that an extension adds to. */
interface Host {
  connectors: { add(connector: Connector): void }
  checks: { add(check: CheckType): void }
}

/** The extension: a hapi plugin. */
export const plugin = {
  name: 'tidemark-plugin-template',
  register(server: Host): void {
    server.connectors.add(sqlite as Connector)
    server.checks.add(meanLength)
  },
}

export default plugin
