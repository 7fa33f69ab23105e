/**
 * What Soda files say of the columns of tables: `configurations for orders`. They hold for the checks of all files, in any
 * order. https://docs.soda.io/soda-v3/soda-cl-overview/optional-check-configurations
 */
import { formatName } from '../../../connectors/catalog.ts'
import { Inconvertible, type ImportDraft } from './import-draft.ts'
import type { SodaMetric, SodaTarget } from './soda-metrics.ts'
import { isRecord, type Fields } from './values.ts'

export interface SodaConfigurations {
  /**
   * The configuration of a check with that of its column, as Soda Core 3 merges them.
   * @throws Inconvertible where they may be about another column, or where Soda's versions differ
   */
  merge(target: SodaTarget, metric: SodaMetric, config: Fields): Fields
}

/** A section of a file, with what it is about. */
export interface ConfigurationSection {
  file: string
  line: number | null
  /** As the file has it. */
  table: string
  content: unknown
}

interface Configuration {
  table: string
  column: string
  type: string
  value: unknown
}

const TYPES = [
  ...['missing values', 'missing format', 'missing regex'],
  ...['valid values', 'valid format', 'valid regex', 'valid min', 'valid max'],
  ...['valid length', 'valid min length', 'valid max length', 'include null'],
]
/** Soda Core 3 reads them and does not use them. */
const UNUSED_TYPES = ['invalid values', 'invalid format', 'invalid regex']
/** Lists that are joined; of other settings that of the check counts. */
const JOINED_TYPES = ['missing values', 'valid values']
/** Metrics of the whole table, which no column's configuration changes. */
const TABLE_METRICS = ['row_count']

/** Reads the sections of all files, and names what is none. */
export function readConfigurations(
  sections: readonly ConfigurationSection[],
  draft: ImportDraft,
): SodaConfigurations {
  const all: Configuration[] = []
  for (const { file, line, table, content } of sections) {
    const name = `configurations for ${table}`
    if (!isRecord(content)) draft.leave({ file, line, name }, 'it is no object of settings')
    else
      for (const [key, value] of Object.entries(content)) {
        const [type = '', column, more] = key.split(' for ').map(part => part.trim())
        if (column === undefined || more !== undefined || ![...TYPES, ...UNUSED_TYPES].includes(type))
          draft.leave({ file, line, name: `${key} of ${name}` }, 'it is no setting of a column')
        else all.push({ table, column, type, value })
      }
  }
  return {
    merge({ table }, { metric, args }, config) {
      if (TABLE_METRICS.includes(metric) || config[`${metric} expression`] !== undefined) return config
      const own = all.filter(
        each => fold(each.table) === fold(table) && args.some(arg => fold(arg) === fold(each.column)),
      )
      if (own.length === 0) return config
      const names = new Set(own.map(({ type, column }) => `${type} for ${column}`))
      if (hasVariable(own.map(({ value }) => value)))
        throw new Inconvertible(`${[...names].join(', ')} takes a variable that is given when the scan runs`)
      const doubtful = own.find(
        ({ column, type }) => column !== args[0] || UNUSED_TYPES.includes(type) || args.length > 1,
      )
      if (doubtful || names.size < own.length)
        throw new Inconvertible(
          `the files say ${[...names].join(', ')}, of which it is not certain what Soda makes: write it below the check`,
        )
      return own.reduce(mergeOne, config)
    },
  }
}

function mergeOne(config: Fields, { type, value }: Configuration): Fields {
  const given = config[type]
  if (given === undefined || given === null) return { ...config, [type]: value }
  if (!JOINED_TYPES.includes(type)) return config
  if (!Array.isArray(given) || !Array.isArray(value)) throw new Inconvertible(`${type} must be a list`)
  return { ...config, [type]: [...(given as unknown[]), ...(value as unknown[])] }
}

/**
 * The condition on the rows of a named part of a table, such as `daily` of `checks for orders [daily]`.
 * @throws Inconvertible where it is not known
 */
export type RowsOfPart = (table: string, part: string) => string

/** Reads the filters of all files, and names what is none. */
export function readRows(
  sections: readonly (ConfigurationSection & { part: string })[],
  draft: ImportDraft,
): RowsOfPart {
  const conditions = new Map<string, string[]>()
  const keyOf = (table: string, part: string) => JSON.stringify([table, part.trim()])
  for (const { file, line, table, part, content } of sections) {
    const where = isRecord(content) ? content.where : undefined
    const key = keyOf(table, part)
    if (typeof where === 'string') conditions.set(key, [...(conditions.get(key) ?? []), where.trim()])
    else draft.leave({ file, line, name: `filter ${table} [${part}]` }, 'it has no where with a condition')
  }
  return (table, part) => {
    const [where, ...more] = conditions.get(keyOf(table, part)) ?? []
    if (where === undefined || more.length > 0)
      throw new Inconvertible(
        `the files have ${more.length + (where === undefined ? 0 : 1)} filters ${table} [${part}]`,
      )
    if (hasVariable(where))
      throw new Inconvertible(
        `the filter ${table} [${part}] takes a variable that is given when the scan runs`,
      )
    return where
  }
}

/** Names that may be about the same table or column. */
const fold = (name: string): string => name.replaceAll(/["`]/g, '').toLowerCase()

/** The path of a table that a file names, perhaps in quotes. */
export function readSodaTable(text: string): string {
  const quoted = /^(["`])(.+)\1$/.exec(text.trim())?.[2]
  return quoted === undefined ? text.trim() : formatName([quoted])
}

/** Whether a text of a value holds `${…}`, which is resolved when a scan runs. */
export function hasVariable(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('${')
  return typeof value === 'object' && value !== null && Object.values(value).some(hasVariable)
}
