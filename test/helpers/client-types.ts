import { writeFileSync } from 'node:fs'
import { pino } from 'pino'
import { assemble } from '../../server/build.ts'
import { openApi } from '../../server/openapi/openapi.ts'
import { readConfig } from '../../server/settings/config.ts'
import { OPERATIONS_FILE, renderOperations } from './client-operations.ts'

/** Writes the types of the TypeScript client from the server's own document. It needs no database, and some seconds. */
export async function writeClientTypes(): Promise<void> {
  const ownerUrl = 'postgres://localhost/none'
  const secretKey = Buffer.alloc(32).toString('base64')
  const config = readConfig({ DATABASE_URL: ownerUrl, SECRET_KEY: secretKey })
  const log = pino({ level: 'silent' })
  const server = await assemble({ config, log, ownerUrl, secretKey })
  // Some routes wait for what other features add.
  await server.initialize()
  writeFileSync(OPERATIONS_FILE, await renderOperations(openApi(server, config.baseUrl)))
  await server.textPool.stop()
}
