import { writeFileSync } from 'node:fs'
import { assembleOffline } from '../../server/cli/offline-server.ts'
import { openApi } from '../../server/openapi/openapi.ts'
import { readConfig } from '../../server/settings/config.ts'
import { OPERATIONS_FILE, renderOperations } from './client-operations.ts'

/** Writes the types of the TypeScript client from the server's own document. It needs no database, and some seconds. */
export async function writeClientTypes(): Promise<void> {
  const server = await assembleOffline(readConfig({}))
  writeFileSync(OPERATIONS_FILE, await renderOperations(openApi(server, server.config.baseUrl)))
}
