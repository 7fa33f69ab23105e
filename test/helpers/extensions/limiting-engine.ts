import type { Server } from '@hapi/hapi'
import type { Connector } from '../../../connectors/connector.ts'
import { postgresql, type PostgresqlConfig } from '../../../connectors/postgresql/index.ts'

/** The limits that its sessions were opened with, in their order. */
export const openedWith: (number | undefined)[] = []

/** An engine that says that it limits bytes itself: PostgreSQL, without any limit. */
const limiting: Connector<PostgresqlConfig> = {
  ...postgresql,
  name: 'limiting',
  capabilities: { ...postgresql.capabilities, byteLimit: true },
  connect(config, options) {
    openedWith.push(options.maxBytesPerStatement)
    return postgresql.connect(config, options)
  },
}

export default {
  name: 'limiting-engine',
  register(server: Server) {
    server.connectors.add(limiting as unknown as Connector)
  },
}
