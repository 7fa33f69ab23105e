import { randomUUID } from 'node:crypto'
import { tablePath, type TableRef } from '../catalog.ts'
import { type ConnectorError } from '../errors.ts'
import { probeTables, findRefusal, unlistedError } from '../hidden.ts'
import { ENGINE } from './errors.ts'
import type { BigquerySession } from './session.ts'

const isGone = (error: ConnectorError | null) => error?.code === 'notFound'

/**
 * Finds tables that may still exist although the catalog no longer shows them. BigQuery says that something is not found
 * (404) only to who might see it; to others it denies access (403), whether it is there or not
 * (https://cloud.google.com/bigquery/docs/troubleshoot-access-control). The requests are free: two for each dataset,
 * and one for each table of a dataset on which the account has rights on single tables only.
 * @param reach the only dataset that is read, or undefined for all
 */
export async function findHiddenTables(
  { lookUp: look }: Pick<BigquerySession, 'lookUp'>,
  { project, dataset }: { project: string; dataset?: string },
  tables: readonly TableRef[],
): Promise<Map<string, ConnectorError>> {
  const own = tables.filter(({ catalog, schema }) => catalog === project && (dataset ?? schema) === schema)
  const found = new Map<string, ConnectorError>()
  const open: TableRef[] = []
  for (const [schema, group] of Map.groupBy(own, table => table.schema)) {
    let isMeant = true
    const error = await findRefusal(look(schema).then(is => (isMeant = is)))
    if (isGone(error) || !isMeant) continue
    if (error) for (const table of group) found.set(tablePath(table), error)
    // Not found is what is said of this one to who may see all tables of the dataset.
    else if (!isGone(await findRefusal(look(schema, `no_${randomUUID().replaceAll('-', '_')}`))))
      open.push(...group)
  }
  const probed = await probeTables(ENGINE, open, async ({ schema, name }) => {
    const error = await findRefusal(look(schema, name))
    return isGone(error) ? null : (error ?? unlistedError(ENGINE))
  })
  return new Map([...found, ...probed])
}
