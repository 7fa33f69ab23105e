import { randomUUID } from 'node:crypto'
import { tablePath, type TableRef } from '../catalog.ts'
import { type ConnectorError } from '../errors.ts'
import { probeTables, findRefusal, unlistedError } from '../hidden-tables.ts'
import { ENGINE } from './errors.ts'
import type { BigquerySession } from './session.ts'

const isGone = (error: ConnectorError | null) => error?.code === 'notFound'

/**
 * Finds tables that may still exist although the catalog no longer shows them. BigQuery returns 404 only to
 * callers who could see the object; to others it denies access (403), whether the object exists or not
 * (https://cloud.google.com/bigquery/docs/troubleshoot-access-control). The requests are free: two for each dataset,
 * and one for each table of a dataset on which the account has rights on single tables only.
 * @param reach the only dataset that is read, or undefined for all
 */
export async function findHiddenTables(
  { lookUp }: Pick<BigquerySession, 'lookUp'>,
  { project, dataset }: { project: string; dataset?: string },
  tables: readonly TableRef[],
): Promise<Map<string, ConnectorError>> {
  const own = tables.filter(({ catalog, schema }) => catalog === project && (dataset ?? schema) === schema)
  const found = new Map<string, ConnectorError>()
  const open: TableRef[] = []
  for (const [schema, group] of Map.groupBy(own, table => table.schema)) {
    let isInScope = true
    const error = await findRefusal(lookUp(schema).then(inScope => (isInScope = inScope)))
    if (isGone(error) || !isInScope) continue
    if (error) for (const table of group) found.set(tablePath(table), error)
    // Only an account that may see all tables of the dataset gets 404 for a table that cannot exist.
    else if (!isGone(await findRefusal(lookUp(schema, `no_${randomUUID().replaceAll('-', '_')}`))))
      open.push(...group)
  }
  const probed = await probeTables(ENGINE, open, async ({ schema, name }) => {
    const error = await findRefusal(lookUp(schema, name))
    return isGone(error) ? null : (error ?? unlistedError(ENGINE))
  })
  return new Map([...found, ...probed])
}
