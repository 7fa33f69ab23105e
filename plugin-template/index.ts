import type { ExtensibleCheckType } from 'tidemark/check'
import type { ExtensibleConnector } from 'tidemark/connector'
import type { ExtensibleDestinationType } from 'tidemark/destination'
import { sqlite } from './connector.ts'
import { blankCount } from './blank-count.ts'
import { ntfy } from './ntfy.ts'

export const plugin = {
  name: 'tidemark-plugin-template',
  register(server: ExtensibleConnector & ExtensibleCheckType & ExtensibleDestinationType): void {
    server.connectors.add(sqlite)
    server.checks.add(blankCount)
    server.destinations.add(ntfy)
  },
}

export default plugin
