import type { MetricDryRun, ReferentialDryRun, ValidityDryRun } from 'tidemark/client'
import { api } from '../lib/api.ts'

/** The kinds of checks, as the list of all checks names them. */
export type CheckKind = 'validity' | 'metric' | 'referential'

type Body = Record<string, unknown>

/** What a dry run found. */
export type DryRun = ValidityDryRun | MetricDryRun | ReferentialDryRun

/** What became of each column of a request that makes several checks. */
export interface ColumnResult {
  column_name: string
  status: 'created' | 'failed'
  error: string | null
}

/** A source may take minutes to measure a table; the server has a deadline of its own. */
const MEASURE_TIMEOUT_MS = 600_000

/** The kind of a check, which its id shows. */
export function kindOf(id: string): CheckKind {
  return id.startsWith('v_') ? 'validity' : id.startsWith('m_') ? 'metric' : 'referential'
}

/**
 * Bodies are built of the fields of a form, which the description of the API has no types for: the server validates
 * them, and what it refuses stands beside the fields.
 */
const bodyOf = <T>(body: Body) => body as T

/** Creates one check of a table. */
export async function createCheck(kind: CheckKind, table: string, body: Body): Promise<void> {
  const options = { path: { asset_id: table }, body: bodyOf<never>(body), timeoutMs: MEASURE_TIMEOUT_MS }
  if (kind === 'validity') await api.post('/api/v1/sdk/validity/{asset_id}', options)
  else if (kind === 'metric') await api.post('/api/v1/sdk/metrics/{asset_id}', options)
  else await api.post('/api/v1/sdk/referential/{asset_id}', options)
}

/** Creates a rule or metric for each of several columns. */
export async function createChecks(
  kind: Exclude<CheckKind, 'referential'>,
  table: string,
  body: Body,
): Promise<ColumnResult[]> {
  const options = { path: { asset_id: table }, body: bodyOf<never>(body), timeoutMs: MEASURE_TIMEOUT_MS }
  const { data } =
    kind === 'validity'
      ? await api.post('/api/v1/sdk/validity/{asset_id}/bulk', options)
      : await api.post('/api/v1/sdk/metrics/{asset_id}/bulk', options)
  return data.results
}

/** A check with its configuration. */
export async function loadCheck(table: string, id: string, signal: AbortSignal) {
  const kind = kindOf(id)
  if (kind === 'validity') {
    const path = { asset_id: table, rule_id: id }
    return (await api.get('/api/v1/sdk/validity/{asset_id}/{rule_id}', { path, signal })).data
  }
  if (kind === 'metric') {
    const path = { asset_id: table, metric_id: id }
    const query = { include_snapshots: false }
    return (await api.get('/api/v1/sdk/metrics/{asset_id}/{metric_id}', { path, query, signal })).data
  }
  const path = { asset_id: table, check_id: id }
  return (await api.get('/api/v1/sdk/referential/{asset_id}/{check_id}', { path, signal })).data
}

/** Changes some fields of a check. */
export async function updateCheck(table: string, id: string, body: Body): Promise<void> {
  const kind = kindOf(id)
  const sent = { body: bodyOf<never>(body) }
  if (kind === 'validity')
    await api.patch('/api/v1/sdk/validity/{asset_id}/{rule_id}', {
      path: { asset_id: table, rule_id: id },
      ...sent,
    })
  else if (kind === 'metric')
    await api.patch('/api/v1/sdk/metrics/{asset_id}/{metric_id}', {
      path: { asset_id: table, metric_id: id },
      ...sent,
    })
  else
    await api.patch('/api/v1/sdk/referential/{asset_id}/{check_id}', {
      path: { asset_id: table, check_id: id },
      ...sent,
    })
}

/** Deletes a check with its results. */
export async function deleteCheck(table: string, id: string): Promise<void> {
  const kind = kindOf(id)
  if (kind === 'validity')
    await api.delete('/api/v1/sdk/validity/{asset_id}/{rule_id}', { path: { asset_id: table, rule_id: id } })
  else if (kind === 'metric')
    await api.delete('/api/v1/sdk/metrics/{asset_id}/{metric_id}', {
      path: { asset_id: table, metric_id: id },
    })
  else
    await api.delete('/api/v1/sdk/referential/{asset_id}/{check_id}', {
      path: { asset_id: table, check_id: id },
    })
}

/** Runs a check and waits for its end. @returns how it did, in lower case */
export async function runCheck(
  table: string,
  id: string,
): Promise<{ status: string; message: string | null }> {
  const kind = kindOf(id)
  const timeoutMs = MEASURE_TIMEOUT_MS
  if (kind === 'validity') {
    const { data } = await api.post('/api/v1/sdk/validity/{asset_id}/{rule_id}/check', {
      path: { asset_id: table, rule_id: id },
      body: { sample_limit: 0 },
      timeoutMs,
    })
    return { status: data.status, message: data.error_message }
  }
  if (kind === 'metric') {
    const { data } = await api.post('/api/v1/sdk/metrics/{asset_id}/{metric_id}/capture', {
      path: { asset_id: table, metric_id: id },
      timeoutMs,
    })
    const worst = ['ERROR', 'FAIL'].find(status =>
      data.snapshots.some(snapshot => snapshot.status === status),
    )
    const failed = data.snapshots.find(({ error_message: message }) => message !== null)
    return { status: (worst ?? 'PASS').toLowerCase(), message: failed?.error_message ?? null }
  }
  const { data } = await api.post('/api/v1/sdk/referential/{asset_id}/{check_id}/execute', {
    path: { asset_id: table, check_id: id },
    timeoutMs,
  })
  return { status: data.status, message: data.error_message }
}

/** Measures a check that is not stored. It asks the source. */
export async function dryRunCheck(kind: CheckKind, body: Body): Promise<DryRun> {
  const options = { body: bodyOf<never>(body), timeoutMs: MEASURE_TIMEOUT_MS }
  if (kind === 'validity') return (await api.post('/api/v1/sdk/validity/dry-run', options)).data
  if (kind === 'metric') return (await api.post('/api/v1/sdk/metrics/dry-run', options)).data
  return (await api.post('/api/v1/sdk/referential/dry-run', options)).data
}
