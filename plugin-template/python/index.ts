import { fileURLToPath } from 'node:url'
import Joi from 'joi'
import { fromProcess, raw, type Connector, type ExtensibleConnector } from 'tidemark/connector'
import { dialect } from '../dialect.ts'

interface Config extends Record<string, unknown> {
  path: string
}

/** SQLite once more, as a program in Python: what a connector in another language looks like from here. */
export const pythonSqlite: Connector<Config> = fromProcess<Config>({
  name: 'python_sqlite',
  label: 'SQLite (Python)',
  config: Joi.object<Config>({
    path: Joi.string().max(4096).required().description('The database file, in a folder of FILE_SOURCES.'),
  }),
  dialect: {
    ...dialect,
    // It needs functions that the template's reader adds to SQLite, and this program does not.
    comparison: undefined,
    // Python's SQLite takes a name in double quotes that it does not know for a text.
    quote: identifier => raw(`\`${identifier.replaceAll('`', '``')}\``),
  },
  capabilities: { readOnly: true, cancel: true },
  command: ['python3', '-I', fileURLToPath(new URL('sqlite.py', import.meta.url))],
  memoryMb: 1_024,
  reach: async ({ path }, egress) => ({ path: await egress.file(path) }),
  validates: true,
})

export const plugin = {
  name: 'tidemark-python-sqlite',
  register(server: ExtensibleConnector): void {
    server.connectors.add(pythonSqlite)
  },
}
