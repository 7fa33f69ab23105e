/**
 * How long the list of all checks takes with 100,000 tables and 100,000 checks of one company, and as many of another
 * beside them: `node test/bench/checks.ts [tables] [rounds]`. Ends with 1 when a p95 is over 60 ms.
 */
import { startServer } from '../helpers/server.ts'
import { fillCatalog, fillManyChecks } from './lists-world.ts'
import { measureRequests, printTimes, type RequestKind } from './request-times.ts'
import { isTableRequested, positionalWords, printRows, withTeardown, type Teardown } from './rows.ts'

const tables = Number(positionalWords[0] ?? 100_000)
const rounds = Number(positionalWords[1] ?? 60)
const SOURCES = 3
const LIMIT_MS = 60
/** The least number of tables that the limit is for. */
const JUDGED_TABLES = 100_000

const list = (query: string) => `/api/v1/sdk/checks?${query}`

const KINDS: RequestKind[] = [
  { name: 'first page', path: list('limit=50') },
  { name: 'first page, without points', path: list('limit=100&points=0') },
  { name: 'deep offset', path: list(`offset=${Math.floor(tables * 0.9)}`) },
  { name: 'past the end', path: list(`offset=${tables * 2}`) },
  { name: 'oldest first', path: list('order=asc') },
  { name: 'of a kind', path: list('kind=metric') },
  { name: 'failing or in error', path: list('status=failing,error') },
  { name: 'failing, active', path: list('status=failing,error&is_active=true') },
  { name: 'learning', path: list('status=learning') },
  { name: 'passing', path: list('status=passing') },
  { name: 'passing, deep', path: list(`status=passing&offset=${Math.floor(tables / 2)}`) },
  { name: 'paused', path: list('is_active=false') },
  { name: 'by status', path: list('sort=status') },
  { name: 'by status, deep', path: list(`sort=status&offset=${Math.floor(tables / 2)}`) },
  { name: 'search, rare', path: list('search=zebra') },
  { name: 'search, common', path: list('search=orders') },
  { name: 'search, one letter', path: list('search=a') },
  { name: 'search, no hit', path: list('search=nothing_like_it') },
  { name: 'search, schema and table', path: list('search=schema_3.fact') },
  { name: 'search, failing', path: list('search=orders&status=failing') },
  { name: 'of a source', path: '/api/v1/sdk/checks/warehouse_1' },
  { name: 'of a source, failing', path: '/api/v1/sdk/checks/warehouse_1?status=failing' },
]

process.exitCode = await withTeardown(main)

async function main(t: Teardown): Promise<number> {
  const app = await startServer(t)
  const tenant = await app.signUp('Measured')
  const beside = await app.signUp('Beside')
  for (const company of [tenant, beside]) {
    await fillCatalog(app, company, { tables, sources: SOURCES })
    await fillManyChecks(app, company)
  }
  await app.query('vacuum analyze')
  const times = await measureRequests(app, tenant, KINDS, rounds)
  printTimes(`${tables} tables with as many checks, and as many of another company`, times)
  const slowest = times.toSorted((a, b) => b.p95 - a.p95)[0]!
  printRows([
    {
      what: `checks of ${tables.toLocaleString('en')} tables, slowest list at p95 (${slowest.name})`,
      ours: slowest.p95,
      unit: 'ms',
      bar: { most: LIMIT_MS },
    },
  ])
  // What few checks take is printed and never judged.
  return slowest.p95 <= LIMIT_MS || tables < JUDGED_TABLES || isTableRequested ? 0 : 1
}
