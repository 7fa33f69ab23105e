import { formatName } from '../../../connectors/catalog.ts'
import { access, caller, routesOf, type ValidRequest } from '../../../server/http/access.ts'
import { searchQuery, searchReply } from './schemas.ts'
import { searchReadings, type SearchQuery } from './search.ts'

export const searchRoutes = [
  routesOf('assets')('GET', '/api/v1/sdk/search', access.read, {
    id: 'findAssets',
    description: 'Find sources, tables and columns by name',
    notes:
      'For a field in which one types. Names that equal the term come first, then those that begin with it, then those that contain it, in any case; columns are found by the beginning of their name or of a word of it. A term with dots, such as `sales.orders`, names a schema and a table, or a table and a column.',
    validate: { query: searchQuery },
    response: searchReply,
    handler: search,
  }),
]

async function search(request: ValidRequest<unknown, SearchQuery>) {
  const { companyId } = caller(request)
  const { db } = request.server
  const [sources, tables, columns] = await db.read(companyId, searchReadings(companyId, request.query))
  return {
    data: {
      sources: sources.map(({ id, name, sourceType }) => ({
        id,
        qualified_name: formatName([name]),
        name,
        asset_type: 'source',
        source_type: sourceType,
      })),
      tables: tables.map(({ id, qualifiedName, name, kind }) => ({
        id,
        qualified_name: qualifiedName,
        name,
        asset_type: kind,
      })),
      columns: columns.map(({ tableId, qualifiedName, name, dataType }) => ({
        name,
        data_type: dataType,
        asset_id: tableId,
        qualified_name: qualifiedName,
      })),
    },
  }
}
