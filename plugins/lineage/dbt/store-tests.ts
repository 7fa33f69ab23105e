import { v7 } from 'uuid'
import { countOf } from '../../../checks/explanation.ts'
import { formatName } from '../../../connectors/catalog.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { defineCap, enforceCap } from '../../../server/database/company-caps.ts'
import type { AlertEvent } from '../../alerts/api.ts'
import type { LineageDeps } from '../deps.ts'
import type { CatalogApi, Source } from '../../catalog/api.ts'
import { externalCheckFailed } from './alert-kind.ts'
import type { DbtProject } from './project.ts'
import type { DbtTest, TestStatus } from './test-results.ts'

const TEST_CAP = defineCap({
  name: 'external_checks',
  most: 200_000,
  what: 'tests of dbt',
  advice: 'import fewer projects',
})

/** What became of the tests of a project. */
export interface StoredTests {
  total: number
  /** Whose result is new. */
  updated: number
  /** Which fail or warn. */
  failing: number
  /** Which could not run. */
  errors: number
  /** Tests that are in the project no more. */
  removed: number
}

interface StoredCheck {
  id: string
  name: string
  testType: string | null
  tableId: string | null
  tablePath: string | null
  columnName: string | null
  severity: 'error' | 'warn'
  status: TestStatus
  failures: string | null
  message: string | null
  runAt: Date
  qualifiedName: string | null
  kind: string
  tags: string[]
  columnTags: Record<string, string[]>
}

/** The tests of a project. */
interface ReportedTests {
  project: DbtProject
  tests: readonly DbtTest[]
  /** The ids of tables by the ids of dbt. */
  tableIds: ReadonlyMap<string, string>
}

/**
 * Stores the tests of a project with their last results, raises alerts for those that fail or could not run, and
 * resolves those of tests that pass again or are gone. An older result never replaces a newer one. The caller holds the lock of the source.
 */
export async function storeTests(
  { alerts, catalog }: Pick<LineageDeps, 'alerts' | 'catalog'>,
  trx: Transaction,
  source: Source,
  reported: ReportedTests,
): Promise<StoredTests> {
  const { project, tests } = reported
  const removed = await removeMissing(trx, source, project.name, tests)
  await alerts.resolveAll(trx, externalCheckFailed.name, removed, 'The test is in the project no more')
  const updated = await upsertTests(trx, source, reported)
  await enforceCap(trx, companyOf(trx), TEST_CAP)
  const passing = updated.filter(({ status }) => status === 'pass').map(({ id }) => id)
  await alerts.resolveAll(trx, externalCheckFailed.name, passing, 'The test passes')
  const [failing, errors] = [
    updated.filter(({ status }) => status === 'fail' || status === 'warn'),
    updated.filter(({ status }) => status === 'error'),
  ]
  // Nothing would resolve the alerts of an inactive source.
  if (source.isActive)
    await alerts.raiseAll(
      trx,
      [...failing, ...errors].map(check => describeFailure(catalog, source, project.name, check)),
    )
  return {
    total: tests.length,
    updated: updated.length,
    failing: failing.length,
    errors: errors.length,
    removed: removed.length,
  }
}

async function removeMissing(
  trx: Transaction,
  source: Source,
  project: string,
  tests: readonly DbtTest[],
): Promise<string[]> {
  const gone = await rows<{ id: string }>(
    trx,
    `delete from external_checks where company_id = :companyId and source_id = :sourceId and project = :project
        and unique_id <> all(cast(:ids as text[])) returning id`,
    {
      companyId: companyOf(trx),
      sourceId: source.id,
      project,
      ids: tests.map(({ uniqueId }) => uniqueId),
    },
  )
  return gone.map(({ id }) => id)
}

/** @returns the tests whose result is newer than what was stored */
async function upsertTests(
  trx: Transaction,
  source: Source,
  { project, tests, tableIds }: ReportedTests,
): Promise<StoredCheck[]> {
  const given = tests.map(({ result, ...test }) => {
    const place = project.relations.get(test.relation ?? '')?.place
    return {
      id: v7(),
      uniqueId: test.uniqueId,
      name: test.name,
      testType: test.testType,
      tableId: tableIds.get(test.relation ?? '') ?? null,
      tablePath: place ? formatName([place.database ?? '', place.schema, place.name].filter(Boolean)) : null,
      columnName: test.column,
      severity: test.severity,
      status: result?.status ?? null,
      failures: result?.failures == null ? null : Math.trunc(result.failures),
      message: result?.message ?? null,
      runAt: result?.at ?? null,
    }
  })
  return rows<StoredCheck>(
    trx,
    `with given as materialized (
       select * from jsonb_to_recordset(cast(:tests as jsonb)) as g
         (id uuid, "uniqueId" text, name text, "testType" text, "tableId" uuid, "tablePath" text, "columnName" text,
          severity text, status text, failures bigint, message text, "runAt" timestamptz)),
     former as materialized (
       select unique_id, run_at from external_checks
        where company_id = :companyId and source_id = :sourceId and project = :project),
     stored as (
       insert into external_checks as c
         (id, company_id, source_id, project, unique_id, name, test_type, table_id, table_path, column_name, severity,
          status, failures, message, run_at, since)
       select id, :companyId, :sourceId, :project, "uniqueId", name, "testType", "tableId", "tablePath", "columnName",
              severity, status, failures, message, "runAt", "runAt"
         from given order by "uniqueId" collate "C"
       on conflict (company_id, source_id, project, unique_id) do update set
         name = excluded.name, test_type = excluded.test_type, table_id = excluded.table_id,
         table_path = excluded.table_path, column_name = excluded.column_name, severity = excluded.severity,
         since = case when ${IS_NEWER} and c.status is distinct from excluded.status then excluded.run_at
                 else c.since end,
         status = case when ${IS_NEWER} then excluded.status else c.status end,
         failures = case when ${IS_NEWER} then excluded.failures else c.failures end,
         message = case when ${IS_NEWER} then excluded.message else c.message end,
         run_at = case when ${IS_NEWER} then excluded.run_at else c.run_at end
       returning *)
     select s.id, s.name, s.test_type, s.table_id, s.table_path, s.column_name, s.severity, s.status, s.failures,
            s.message, s.run_at, t.qualified_name, t.kind, t.tags, t.column_tags
       from stored s
       left join former f on f.unique_id = s.unique_id
       left join tables t on t.company_id = :companyId and t.id = s.table_id
      where s.run_at is not null and s.run_at is distinct from f.run_at
      order by s.unique_id`,
    {
      companyId: companyOf(trx),
      sourceId: source.id,
      project: project.name,
      tests: JSON.stringify(given),
    },
  )
}

const IS_NEWER = '(excluded.run_at is not null and (c.run_at is null or excluded.run_at > c.run_at))'

/** `dbt test not_null_orders_id failed (5 rows)`; in the words of dbt where it counts none. */
function describeTest({ name, status, failures, message }: StoredCheck): string {
  const words = message === null ? '' : `: ${message}`
  if (status === 'error') return `dbt test ${name} could not run${words}`
  const outcome = `dbt test ${name} ${status === 'warn' ? 'warned' : 'failed'}`
  return failures === null ? `${outcome}${words}` : `${outcome} (${countOf(Number(failures), 'row')})`
}

/** A test that could not run says nothing of its data: it is as severe as it is declared. */
function isCritical({ status, severity }: StoredCheck): boolean {
  return status === 'fail' || (status === 'error' && severity === 'error')
}

function describeFailure(
  catalog: CatalogApi,
  source: Source,
  project: string,
  check: StoredCheck,
): AlertEvent {
  const isTable = check.tableId !== null && check.qualifiedName !== null
  const reason = check.message ?? (check.failures === null ? null : `${check.failures} rows fail`)
  return {
    type: externalCheckFailed.name,
    cause: check.id,
    severity: isCritical(check) ? 'critical' : 'warning',
    sourceId: source.id,
    asset: isTable
      ? {
          id: check.tableId ?? '',
          qualifiedName: check.qualifiedName ?? '',
          assetType: check.kind,
          tags: catalog.tagsOf(source, check, [check.columnName]),
        }
      : { id: source.id, qualifiedName: formatName([source.name]), assetType: 'source', tags: source.tags },
    ruleName: check.name,
    title: isTable
      ? { column: check.columnName, found: describeTest(check) }
      : { found: [check.tablePath, describeTest(check)].filter(Boolean).join(': ') },
    details: {
      tool: 'dbt',
      project,
      test: check.name,
      test_type: check.testType,
      table_path: check.tablePath,
      column_name: check.columnName,
      status: check.status,
      failures: check.failures === null ? null : Number(check.failures),
      reason,
      run_at: check.runAt,
    },
  }
}
