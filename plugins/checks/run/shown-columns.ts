import type { Check } from '../../../checks/check.ts'
import type { CatalogApi, TableContext } from '../../catalog/api.ts'
import type { MeasureRefusal } from '../kind.ts'

/**
 * Why SQL of a user would show what columns of personal data hold. A name that is no column of the table may be its whole
 * row. Asked when a metric is made, and at each scan.
 */
export async function shownColumnsRefusal(
  catalog: Pick<CatalogApi, 'connectorOf' | 'hasPersonalData' | 'personalColumns' | 'tableInfo'>,
  loaded: TableContext,
  { type, config }: Pick<Check, 'type' | 'config'>,
): Promise<MeasureRefusal | null> {
  if (!type.shownColumns) return null
  const { source } = loaded
  const table = catalog.tableInfo(loaded.table)
  const shown = await type.shownColumns(config, { dialect: catalog.connectorOf(source).dialect, table })
  const refuse = (what: string) => ({
    kind: 'permission',
    message: `${what}, and ${type.name} would show what it holds: count rows instead, or take the tag off`,
  })
  if (shown === 'any')
    return (await catalog.hasPersonalData(source))
      ? refuse(`${source.name} has columns that are tagged as personal data, which a SELECT may read`)
      : null
  const masked = new Set([...catalog.personalColumns(loaded)].map(name => name.toLowerCase()))
  const known = new Set(table.columns.map(({ name }) => name.toLowerCase()))
  const isHidden = (name: string) => masked.has(name) || !known.has(name)
  const hidden = masked.size === 0 ? undefined : shown.find(name => isHidden(name.toLowerCase()))
  return hidden === undefined ? null : refuse(`${hidden} is, or has, what is tagged as personal data`)
}
