import type { Source } from 'tidemark/client'
import { api } from '../../lib/api.ts'
import { useData, type Data } from '../../lib/data.ts'
import { inWords } from '../../lib/format.ts'
import { readSchema, type FieldSpec, type SettingsSchema } from '../../forms/schema.ts'
import { sourceTexts } from '../../texts/sources.ts'

export interface SourceType {
  source_type: string
  label: string
  settings: SettingsSchema
}

/** The engines that a source can be of. */
export function useSourceTypes(): Data<SourceType[]> {
  return useData('source types', async signal => {
    const { data } = await api.get('/api/v1/sdk/source-types', { signal })
    return data.items as SourceType[]
  })
}

/** Settings that most connections do without. */
const RARE = new Set(['sslmode', 'ssl_ca', 'timezone', 'tls', 'role', 'location', 'maximum_bytes_billed'])

/** The fields of a connection, those that most people need first. */
export function readConnectionFields(type: SourceType): { common: FieldSpec[]; rare: FieldSpec[] } {
  const specs = readSchema(type.settings, 'connection_config')
  const isRare = ({ name, isRequired }: FieldSpec) => !isRequired && RARE.has(name.split('.')[1]!)
  return { common: specs.filter(spec => !isRare(spec)), rare: specs.filter(isRare) }
}

export const nameFields: FieldSpec[] = [
  {
    ...{ name: 'name', label: sourceTexts.name, kind: 'text' },
    ...{ isRequired: true, maxLength: 200, hint: sourceTexts.nameHint },
  },
  { name: 'description', label: sourceTexts.description, kind: 'text', maxLength: 2_000 },
]

const INTERVALS = ['off', 'hourly', 'every_4_hours', 'daily', 'weekly'] as const

export const behaviourFields: FieldSpec[] = [
  { name: 'is_active', label: sourceTexts.active, kind: 'flag', initial: true },
  {
    ...{ name: 'discovery_interval', label: sourceTexts.interval, kind: 'choice', initial: 'daily' },
    ...{ hint: sourceTexts.intervalHint, choices: INTERVALS.map(word => [word, inWords(word)] as const) },
  },
  {
    ...{ name: 'query_access_level', label: sourceTexts.access, kind: 'choice', initial: 'full' },
    ...{ hint: sourceTexts.accessHint, choices: Object.entries(sourceTexts.accessLevels) },
  },
  { name: 'max_concurrency', label: sourceTexts.concurrency, kind: 'integer', min: 1, max: 20 },
  {
    ...{ name: 'statement_timeout_seconds', label: sourceTexts.timeout, kind: 'integer' },
    ...{ min: 1, max: 3_600, hint: sourceTexts.timeoutHint },
  },
  { name: 'auto_tag_enabled', label: sourceTexts.tags, kind: 'flag', initial: true },
]

export const patternFields: FieldSpec[] = [
  {
    ...{ name: 'include_patterns', label: sourceTexts.include, kind: 'lines' },
    hint: sourceTexts.includeHint,
  },
  {
    ...{ name: 'exclude_patterns', label: sourceTexts.exclude, kind: 'lines' },
    hint: sourceTexts.excludeHint,
  },
]

/** The record of a source in the names that a request to change it has. */
export function asRequest(source: Source): object {
  const { host, port, username, http_path, default_catalog, database_name: database, extra_params } = source
  return {
    ...source,
    connection_config: { host, port, username, http_path, default_catalog, database, ...extra_params },
  }
}
