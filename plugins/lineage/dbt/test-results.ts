import { readTime } from '../../../server/times/read-time.ts'
import type { DbtArtifacts } from './artifacts.ts'
import type { DbtRunResults } from './run-results.ts'
import type { DbtProject } from './project.ts'
import { findTested } from './tested-relation.ts'

export const TEST_STATUSES = ['pass', 'warn', 'fail', 'error'] as const
export type TestStatus = (typeof TEST_STATUSES)[number]

/** A test of dbt on a relation, or on one of its columns. */
export interface DbtTest {
  uniqueId: string
  name: string
  /** The generic test that it is made from: `not_null`; null for a query of its own. */
  testType: string | null
  /** The relation that it is about; null where it reads none. */
  relation: string | null
  column: string | null
  severity: 'error' | 'warn'
  /** Null where the results have none of it. */
  result: DbtTestResult | null
}

interface DbtTestResult {
  status: TestStatus
  failures: number | null
  message: string | null
  at: Date
}

/** A run of a model, seed or snapshot. */
export interface DbtModelRun {
  uniqueId: string
  isFailed: boolean
  message: string | null
  at: Date
}

const STATUS_BY_WORD: Record<string, TestStatus> = {
  pass: 'pass',
  success: 'pass',
  warn: 'warn',
  fail: 'fail',
  error: 'error',
  'runtime error': 'error',
}

/**
 * All tests of a project that are not disabled, with what the results say of them.
 * @param timezone of times without an offset
 */
export function listTests(
  { manifest, run_results: results }: DbtArtifacts,
  project: DbtProject,
  timezone = 'UTC',
): DbtTest[] {
  const byId = new Map(results?.results.map(result => [result.unique_id, result]))
  return Object.entries(manifest.nodes)
    .filter(([, node]) => node.resource_type === 'test' && node.config?.enabled !== false)
    .map(([uniqueId, node]) => {
      const result = byId.get(uniqueId)
      // A test that was skipped says nothing.
      const status = result && STATUS_BY_WORD[result.status.toLowerCase()]
      return {
        uniqueId,
        name: node.name,
        testType: node.test_metadata?.name ?? null,
        relation: findTested(node, manifest, project),
        column: node.column_name ?? node.test_metadata?.kwargs?.column_name ?? null,
        severity: node.config?.severity?.toLowerCase() === 'warn' ? 'warn' : 'error',
        result: status
          ? {
              status,
              failures: result.failures ?? null,
              message: result.message ?? null,
              at: endOf(result, results, timezone),
            }
          : null,
      }
    })
}

/**
 * What the results say of models, seeds and snapshots.
 * @param timezone of times without an offset
 */
export function listModelRuns(
  { run_results: results }: DbtArtifacts,
  project: DbtProject,
  timezone = 'UTC',
): DbtModelRun[] {
  return (results?.results ?? []).flatMap(result => {
    const { unique_id: uniqueId, status, message } = result
    const word = status.toLowerCase()
    const isFailed = word === 'error' || word === 'runtime error' || word === 'fail'
    if (!project.relations.has(uniqueId) || !(isFailed || word === 'success')) return []
    return [
      {
        uniqueId,
        isFailed,
        message: isFailed ? (message ?? null) : null,
        at: endOf(result, results, timezone),
      },
    ]
  })
}

/** When a result was found: its own time, or that of all. */
function endOf({ at }: { at?: string }, results: DbtRunResults | undefined, timezone: string): Date {
  return readTime(at ?? results?.generated_at ?? '', timezone) ?? new Date(0)
}
