import type { Source } from 'tidemark/client'
import { api } from '../../lib/api.ts'
import { useData, type Data } from '../../lib/data.ts'
import { inWords } from '../../lib/format.ts'
import { readSchema, type FieldSpec, type SettingsSchema } from '../../forms/schema.ts'
import { sourceTexts } from './texts.ts'

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
    ...{ name: 'name', label: 'Name', kind: 'text' },
    ...{
      isRequired: true,
      maxLength: 200,
      hint: 'How people will call it. It begins the names of its tables.',
    },
  },
  { name: 'description', label: 'Description', kind: 'text', maxLength: 2_000 },
]

const INTERVALS = ['off', 'hourly', 'every_4_hours', 'daily', 'weekly'] as const

export const discoveryField: FieldSpec = {
  ...{ name: 'discovery_interval', label: 'Discovery schedule', kind: 'choice', initial: 'daily' },
  hint: 'How often the catalog is read to find new tables and changes.',
  choices: INTERVALS.map(word => [word, inWords(word)] as const),
}

export const behaviourFields: FieldSpec[] = [
  { name: 'is_active', label: 'Read by schedules', kind: 'flag', initial: true },
  discoveryField,
  {
    ...{ name: 'query_access_level', label: 'Access level', kind: 'choice', initial: 'full' },
    ...{
      hint: 'Only the catalog, numbers such as counts, or also single invalid rows.',
      choices: Object.entries(sourceTexts.accessLevels),
    },
  },
  { name: 'max_concurrency', label: 'Sessions at once', kind: 'integer', min: 1, max: 20 },
  {
    ...{ name: 'statement_timeout_seconds', label: 'Seconds for a statement', kind: 'integer' },
    ...{ min: 1, max: 3_600, hint: 'A statement that takes longer is ended by the database.' },
  },
  {
    ...{ name: 'max_bytes_per_statement', label: 'Bytes a statement may read', kind: 'integer' },
    ...{
      min: 10_485_760,
      hint: 'Such as 10000000000 for 10 GB. A statement that would read more, as the database estimates, is not run. Empty for no limit.',
    },
  },
  { name: 'auto_tag_enabled', label: 'Tag columns by their names', kind: 'flag', initial: true },
]

export const patternFields: FieldSpec[] = [
  {
    ...{ name: 'include_patterns', label: 'Tables to read', kind: 'lines' },
    hint: 'Such as sales.* or *.orders_*, one on each line. Empty for all.',
  },
  {
    ...{ name: 'exclude_patterns', label: 'Tables to leave out', kind: 'lines' },
    hint: 'Such as tmp_*, also where they are included above.',
  },
]

/** The record of a source in the names that a request to change it has. */
export function asRequest(source: Source) {
  const { host, port, username, http_path, default_catalog, database_name: database, extra_params } = source
  return {
    ...source,
    connection_config: { host, port, username, http_path, default_catalog, database, ...extra_params },
  }
}
