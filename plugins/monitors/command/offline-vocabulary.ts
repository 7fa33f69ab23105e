import { defineDialect, type Dialect } from '../../../connectors/dialect.ts'
import { assembleOffline } from '../../../server/cli/offline-server.ts'
import type { Config } from '../../../server/settings/config.ts'
import type { FileVocabulary } from '../file/json-schema.ts'

/** What files may hold on a server of this program with these extensions, which takes a second and no database. */
export async function readVocabulary(config?: Config): Promise<FileVocabulary> {
  return (await readOffline(config)).vocabulary
}

/** The same with the SQL of engines: of one that only an extension knows, the SQL that all engines share. */
export async function readOffline(
  config?: Config,
): Promise<{ vocabulary: FileVocabulary; dialectOf(engine: string): Dialect }> {
  const { checks, connectors, plugins } = await assembleOffline(config)
  return {
    vocabulary: { kinds: plugins.checks.declaredKinds(), types: checks.all() },
    dialectOf: engine => (connectors.has(engine) ? connectors.get(engine).dialect : defineDialect({})),
  }
}
