import type { Connection } from '../../../connectors/connector.ts'
import type { CatalogApi, Source } from '../../catalog/api.ts'
import type { AskEngine } from './declared-checks.ts'

const TIMEOUT_MS = 5_000

/**
 * Gives many questions one session of a source. The first question opens it, so that work without any opens none; what
 * fails to open fails each question in the same way.
 */
export async function withSharedSession<T>(
  catalog: CatalogApi,
  source: Source,
  work: (ask: AskEngine) => Promise<T>,
): Promise<T> {
  const isDone = Promise.withResolvers<void>()
  let session: Promise<void> | undefined
  let opened: Promise<Connection> | undefined
  const open = () =>
    new Promise<Connection>((resolve, reject) => {
      const hold = async (connection: Connection) => {
        resolve(connection)
        await isDone.promise
      }
      session = catalog
        .withConnection(source, hold, { purpose: 'dry_run', timeoutMs: TIMEOUT_MS })
        .catch((error: unknown) => reject(error as Error))
    })
  try {
    return await work(async question => question(await (opened ??= open())))
  } finally {
    isDone.resolve()
    await session
  }
}
