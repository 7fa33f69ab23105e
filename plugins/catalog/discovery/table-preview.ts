import { formatName, type TableRef } from '../../../connectors/catalog.ts'
import { ConnectorError } from '../../../connectors/errors.ts'
import { filterWithPauses } from '../../../server/filter-with-pauses.ts'
import type { SessionDeps } from '../deps.ts'
import type { Source } from '../models.ts'
import { statementTimeoutMs, withConnection } from '../sources/connections.ts'
import { failureOf } from '../sources/failures.ts'
import { patternMatcher } from './patterns.ts'

/** The body of `POST /sdk/assets/{asset_id}/preview-tables`, validated. */
export interface TablePreviewRequest {
  include_patterns?: string[]
  exclude_patterns?: string[]
}

interface TablePreview {
  /** Tables in the database; null when it could not be read. */
  total: number | null
  matched: number | null
  schemas: { schema: string; total: number; matched: number }[]
  /** Names of the first tables that match, as patterns name them. */
  tables: string[]
  error_code: string | null
  error_message: string | null
}

/** While a person tries patterns, the catalog is read once. */
const KEPT_MS = 5 * 60_000
const MAX_KEPT_SOURCES = 10
const MAX_SCHEMAS = 200
const MAX_NAMES = 50

interface Listing {
  tables: TableRef[]
  readAt: number
}

/** The tables that sources had a moment ago, by source and its configuration. */
type Listings = Map<string, Listing>

/** @returns a function that counts how many tables of a source some patterns would leave in. A database that cannot be read is the answer. */
export function makeTablePreview(deps: SessionDeps) {
  const listings: Listings = new Map()
  return (source: Source, body: TablePreviewRequest) => previewTables(deps, listings, source, body)
}

async function previewTables(
  deps: SessionDeps,
  listings: Listings,
  source: Source,
  body: TablePreviewRequest,
): Promise<TablePreview> {
  const isMatch = patternMatcher(body)
  let tables: readonly TableRef[]
  try {
    tables = await listTables(deps, listings, source)
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error
    const { code, message } = failureOf(error)
    const nothing = { total: null, matched: null, schemas: [], tables: [] }
    return { ...nothing, error_code: code, error_message: message }
  }
  const schemas = new Map<string, { schema: string; total: number; matched: number }>()
  for (const { schema } of tables) {
    const counts = schemas.get(schema) ?? { schema, total: 0, matched: 0 }
    schemas.set(schema, counts)
    counts.total++
  }
  const matching = await filterWithPauses(tables, isMatch)
  for (const { schema } of matching) schemas.get(schema)!.matched++
  return {
    total: tables.length,
    matched: matching.length,
    schemas: [...schemas.values()].slice(0, MAX_SCHEMAS),
    tables: matching.slice(0, MAX_NAMES).map(({ schema, name }) => formatName([schema, name])),
    error_code: null,
    error_message: null,
  }
}

async function listTables(
  deps: SessionDeps,
  listings: Listings,
  source: Source,
): Promise<readonly TableRef[]> {
  const key = `${source.companyId} ${source.id} ${JSON.stringify(source.config)}`
  const recent = listings.get(key)
  if (recent && Date.now() - recent.readAt < KEPT_MS) return recent.tables
  const read = await withConnection(
    deps,
    source,
    connection =>
      connection.introspect({ signal: AbortSignal.timeout(statementTimeoutMs(deps.config, source)) }),
    { purpose: 'dry_run', isLowPriority: true },
  )
  const tables = read.map(({ catalog, schema, name }) => ({ catalog, schema, name }))
  listings.delete(key)
  listings.set(key, { tables, readAt: Date.now() })
  const [oldest] = listings.keys()
  if (listings.size > MAX_KEPT_SOURCES && oldest !== undefined) listings.delete(oldest)
  return tables
}
