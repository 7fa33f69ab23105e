import type { Server } from '@hapi/hapi'
import { tablePath } from '../../../connectors/catalog.ts'
import type { Connector } from '../../../connectors/connector.ts'
import { sql } from '../../../connectors/sql.ts'
import { sqlite, type SqliteConfig } from '../../../plugin-template/connector.ts'

/** An engine that knows when tables changed last: SQLite, and the table `journal (name, at)` that its user keeps. */
const journal: Connector<SqliteConfig> = {
  ...sqlite,
  name: 'journal',
  label: 'Journal',
  capabilities: { ...sqlite.capabilities, lastModified: true },
  async connect(config, options) {
    const connection = await sqlite.connect(config, options)
    return {
      ...connection,
      async lastModified(tables) {
        const rows = await connection.query(sql`select name, at from journal`, { timeoutMs: 5_000 })
        const times = new Map(rows.map(({ name, at }) => [String(name), new Date(String(at))]))
        return new Map(
          tables.flatMap((table): [string, Date][] => {
            const at = times.get(table.name)
            return at ? [[tablePath(table), at]] : []
          }),
        )
      },
    }
  },
}

export default {
  name: 'journal-engine',
  register(server: Server) {
    server.connectors.add(journal as unknown as Connector)
  },
}
