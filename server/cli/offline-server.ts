import type { Server } from '@hapi/hapi'
import { readExtensionConfig, type Config } from '../settings/config.ts'

/**
 * Puts a server together without its database: it knows the features, check types and extensions, and serves nothing.
 * It holds nothing open.
 * @param config defaults to the extensions of the environment, and nothing else of it
 */
export async function assembleOffline(config: Config = readExtensionConfig()): Promise<Server> {
  // Imported here: together they load every feature, which commands that need none would wait for.
  const [{ assemble }, { pino }] = await Promise.all([import('../build.ts'), import('pino')])
  const server = await assemble({
    config,
    log: pino({ level: 'silent' }),
    ownerUrl: 'postgres://localhost/none',
    secretKey: Buffer.alloc(32).toString('base64'),
  })
  // Some routes wait for what other features add.
  await server.initialize()
  return server
}
