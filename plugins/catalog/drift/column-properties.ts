import { isDeepStrictEqual } from 'node:util'
import type { ColumnInfo, ColumnProperties } from '../../../connectors/catalog.ts'
import { nameProperties } from './named-properties.ts'

/** Properties as the API names them. */
const PROPERTY_NAMES = {
  labels: 'enum_labels',
  attributes: 'attributes',
  characterSet: 'character_set',
  collation: 'collation',
  autoIncrement: 'auto_increment',
  onUpdate: 'on_update',
  generated: 'generated',
} as const satisfies Record<keyof ColumnProperties, string>

const PROPERTIES = Object.keys(PROPERTY_NAMES) as (keyof ColumnProperties)[]

/** Properties in an order of their own, for a fingerprint: objects that were stored as JSON lose theirs. */
export function columnPropertyList(properties: ColumnProperties): unknown[] {
  return PROPERTIES.flatMap(name => (properties[name] === undefined ? [] : [name, properties[name]]))
}

/** The properties that a column had and has of those that differ; both are empty where one state does not know them. */
export function differingProperties(
  { properties: old }: ColumnInfo,
  { properties: now }: ColumnInfo,
): [object, object] {
  if (!old || !now) return [{}, {}]
  const differing = PROPERTIES.filter(name => !isDeepStrictEqual(old[name], now[name]))
  const names = Object.fromEntries(differing.map(name => [name, PROPERTY_NAMES[name]]))
  return [nameProperties(old, names), nameProperties(now, names)]
}

/**
 * Takes properties that accepted columns lack from the first later state that knows them of a column of the same name and
 * type.
 * @returns undefined where that adds none
 */
export function completeColumns(
  accepted: readonly ColumnInfo[],
  later: readonly (readonly ColumnInfo[] | undefined)[],
): ColumnInfo[] | undefined {
  if (accepted.every(({ properties }) => properties !== undefined)) return undefined
  const known = later.map(columns => new Map(columns?.map(column => [column.name, column])))
  let isCompleted = false
  const completed = accepted.map(column => {
    if (column.properties) return column
    const same = known
      .map(columns => columns.get(column.name))
      .find(other => other?.properties !== undefined && other.rawType === column.rawType)
    if (!same?.properties) return column
    isCompleted = true
    const isExpressionKnown = column.default === null && same.properties.generated !== undefined
    return {
      ...column,
      ...(isExpressionKnown && { default: same.default }),
      properties: same.properties,
    }
  })
  return isCompleted ? completed : undefined
}
