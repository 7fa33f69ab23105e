/** Writes what the TypeScript client knows of the API, from the server's own document: `npm run client:types`. */
import { writeFileSync } from 'node:fs'
import type { OpenApiDocument } from '../../server/openapi/document.ts'
import { OPERATIONS_FILE, renderOperations } from '../helpers/client-operations.ts'
import { startServer } from '../helpers/server.ts'

const teardowns: (() => unknown)[] = []
const { ask } = await startServer({ teardown: down => teardowns.push(down) }, { isOwn: true })
const { body } = await ask('GET', '/openapi.json')
writeFileSync(OPERATIONS_FILE, await renderOperations(body as OpenApiDocument))
for (const down of teardowns.reverse()) await down()
