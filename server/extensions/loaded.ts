import type { Logger } from 'pino'

/** Something that an extension adds. */
export interface Addition {
  /** What it is: `connector`. */
  what: string
  name: string
}

/** An extension of the setting EXTENSIONS that runs in this server. */
export interface LoadedExtension {
  /** The name of its package, or of its plugin where it has no package. */
  name: string
  /** Null where it has no package.json, or that has none. */
  version: string | null
  adds: readonly Addition[]
}

type Vocabularies = ReadonlyMap<string, () => string[]>

/** What the names in a vocabulary are called. Others repeat names of these. */
const WORDS: Record<string, string> = {
  source_type: 'connector',
  rule_type: 'rule type',
  metric_type: 'metric type',
  check_kind: 'kind of check',
  destination_type: 'destination type',
}

/** What can be named now; compared with the same later, it gives what was added. */
export function namesIn(vocabularies: Vocabularies): Addition[] {
  return Object.entries(WORDS).flatMap(([vocabulary, what]) =>
    (vocabularies.get(vocabulary)?.() ?? []).map(name => ({ what, name })),
  )
}

/** Those of some names that were not there before. */
export function addedSince(before: readonly Addition[], now: readonly Addition[]): Addition[] {
  return now.filter(({ what, name }) => !before.some(each => each.what === what && each.name === name))
}

/** Logs one line for each extension, so that it can be seen which version runs and what it is for. */
export function logExtensions(log: Pick<Logger, 'info'>, extensions: readonly LoadedExtension[]): void {
  for (const { name, version, adds } of extensions) {
    const list = [...Map.groupBy(adds, ({ what }) => what)]
      .map(([what, some]) => `${what} ${some.map(each => each.name).join(', ')}`)
      .join('; ')
    const extension = version === null ? name : `${name} ${version}`
    log.info({ extension: name, version, adds }, `extension ${extension} adds ${list || 'nothing to choose'}`)
  }
}
