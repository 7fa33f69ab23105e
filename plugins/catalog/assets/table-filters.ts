import { TABLE_FILTERS, type AssetExtension, type TableFilterName } from './asset-extensions.ts'

/** What a query says of the tables that are listed. */
export type TableFilterQuery = Partial<Record<TableFilterName, string[]>> & { has_open_alerts?: boolean }

/**
 * The conditions on tables called `a` in SQL that a query asks for. Without the feature that knows them there are no
 * such tables.
 * @param openAlerts a SELECT of `company_id` and `asset_id`
 */
export function tableConditions(
  extensions: readonly AssetExtension[],
  query: TableFilterQuery,
  openAlerts: string,
): string[] {
  const { has_open_alerts: hasAlerts } = query
  const names = (Object.keys(TABLE_FILTERS) as TableFilterName[]).filter(name => query[name])
  return [
    ...names.map(name => {
      const filter = extensions.find(({ tableFilters }) => tableFilters?.[name])?.tableFilters?.[name]
      return filter ? filter(query[name]!) : 'false'
    }),
    ...(hasAlerts === undefined
      ? []
      : [
          `a.id ${hasAlerts ? 'in' : 'not in'} (select o.asset_id from (${openAlerts}) o where o.company_id = :companyId)`,
        ]),
  ]
}
