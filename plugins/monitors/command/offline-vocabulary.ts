import { assembleOffline } from '../../../server/cli/offline-server.ts'
import type { Config } from '../../../server/settings/config.ts'
import type { FileVocabulary } from '../file/json-schema.ts'

/** What files may hold on a server of this program with these extensions, which takes a second and no database. */
export async function readVocabulary(config?: Config): Promise<FileVocabulary> {
  const { checks, plugins } = await assembleOffline(config)
  return { kinds: plugins.checks.declaredKinds(), types: checks.all() }
}
