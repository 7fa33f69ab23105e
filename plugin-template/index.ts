import type { CheckType } from 'tidemark/check'
import type { Connector } from 'tidemark/connector'
import type { DestinationType } from 'tidemark/destination'
import { sqlite } from './connector.ts'
import { blankCount } from './blank-count.ts'
import { ntfy } from './ntfy.ts'

/** The part of the host's hapi server that an extension adds to. */
interface Host {
  connectors: { add(connector: Connector): void }
  checks: { add(check: CheckType): void }
  destinations: { add(destination: DestinationType): void }
}

export const plugin = {
  name: 'tidemark-plugin-template',
  register(server: Host): void {
    server.connectors.add(sqlite as Connector)
    server.checks.add(blankCount)
    server.destinations.add(ntfy as DestinationType)
  },
}

export default plugin
