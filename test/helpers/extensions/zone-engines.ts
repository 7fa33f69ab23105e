import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import type { Connector } from '../../../connectors/connector.ts'
import { sqlite, type SqliteConfig } from '../../../plugin-template/connector.ts'

/** The configs that engines were handed, newest last. */
export const handed: { engine: string; config: object }[] = []

/** SQLite, that keeps what it was handed. */
function watched(name: string, config: Connector<SqliteConfig>['config']): Connector {
  const keep = (given: SqliteConfig) => void handed.push({ engine: name, config: given })
  const engine: Connector<SqliteConfig> = {
    ...sqlite,
    name,
    label: name,
    config,
    connect(given, options) {
      keep(given)
      return sqlite.connect(given, options)
    },
    test(given, options) {
      keep(given)
      return sqlite.test(given, options)
    },
  }
  return engine as unknown as Connector
}

/** An engine whose config has a time zone of its own, and one whose config has none. */
export default {
  name: 'zone-engines',
  register(server: Server) {
    server.connectors.add(
      watched('zoned', sqlite.config.keys({ timezone: Joi.string() })),
      watched('zoneless', sqlite.config),
    )
  },
}
