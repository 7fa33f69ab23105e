import {
  ApiError,
  type ComparisonDryRun,
  type ComparisonExecution,
  type MetricDryRun,
  type ReferentialDryRun,
  type ValidityDryRun,
} from 'tidemark/client'
import { api, bodyOf, type FormBody } from '../lib/api.ts'

/** The kinds of checks, as the list of all checks names them. */
export type CheckKind = 'validity' | 'metric' | 'referential' | 'comparison'

/** The kinds whose types the API lists; checks of the others have none. */
export type TypedKind = 'validity' | 'metric'

/** What a dry run found. */
export type DryRun = ValidityDryRun | MetricDryRun | ReferentialDryRun | ComparisonDryRun

/** What became of each column of a request that makes several checks. */
export interface ColumnResult {
  column_name: string
  status: 'created' | 'failed'
  error: string | null
}

/** A source may take minutes to measure a table; the server has a deadline of its own. */
const MEASURE_TIMEOUT_MS = 600_000

/** Where the API has the checks of each kind. */
const ROUTES = {
  validity: {
    idPrefix: 'v_',
    all: '/api/v1/sdk/validity/{asset_id}',
    bulk: '/api/v1/sdk/validity/{asset_id}/bulk',
    one: '/api/v1/sdk/validity/{asset_id}/{rule_id}',
    dryRun: '/api/v1/sdk/validity/dry-run',
  },
  metric: {
    idPrefix: 'm_',
    all: '/api/v1/sdk/metrics/{asset_id}',
    bulk: '/api/v1/sdk/metrics/{asset_id}/bulk',
    one: '/api/v1/sdk/metrics/{asset_id}/{metric_id}',
    dryRun: '/api/v1/sdk/metrics/dry-run',
  },
  referential: {
    idPrefix: 'r_',
    all: '/api/v1/sdk/referential/{asset_id}',
    one: '/api/v1/sdk/referential/{asset_id}/{check_id}',
    dryRun: '/api/v1/sdk/referential/dry-run',
  },
  comparison: {
    idPrefix: 'c_',
    all: '/api/v1/sdk/comparisons/{asset_id}',
    one: '/api/v1/sdk/comparisons/{asset_id}/{comparison_id}',
    dryRun: '/api/v1/sdk/comparisons/dry-run',
  },
} as const

/** Whether a word of the API names a kind of checks. */
export const isCheckKind = (word: string): word is CheckKind => Object.hasOwn(ROUTES, word)

/** The kind of a check, which its id shows. */
export function kindOf(id: string): CheckKind {
  const kinds = Object.keys(ROUTES) as CheckKind[]
  return kinds.find(kind => id.startsWith(ROUTES[kind].idPrefix)) ?? 'referential'
}

/** Each kind has a name of its own for the id of a check; the client takes the one that an address has. */
const pathOf = (table: string, id: string) => ({
  asset_id: table,
  rule_id: id,
  metric_id: id,
  check_id: id,
  comparison_id: id,
})

/** A check that is there already. */
export type ExistingCheck = NonNullable<DryRun['existing']>

/**
 * Creates one check of a table.
 * @param mayRepeat whether an equal check may be there already
 * @returns the equal check that is there, where none was made
 */
export async function createCheck(
  kind: CheckKind,
  table: string,
  body: FormBody,
  mayRepeat: boolean,
): Promise<ExistingCheck | undefined> {
  try {
    await api.post(ROUTES[kind].all, {
      path: { asset_id: table },
      query: { if_equal: mayRepeat ? 'create' : 'refuse' },
      body: bodyOf<never>(body),
      timeoutMs: MEASURE_TIMEOUT_MS,
    })
    return undefined
  } catch (error) {
    const existing =
      error instanceof ApiError ? (error.details.existing as ExistingCheck | undefined) : undefined
    if (existing) return existing
    throw error
  }
}

/** Creates a rule or metric for each of several columns. */
export async function createChecks(kind: TypedKind, table: string, body: FormBody): Promise<ColumnResult[]> {
  const path = { asset_id: table }
  const options = { path, body: bodyOf<never>(body), timeoutMs: MEASURE_TIMEOUT_MS }
  return (await api.post(ROUTES[kind].bulk, options)).data.results
}

/** A check with its configuration. */
export async function loadCheck(table: string, id: string, signal: AbortSignal) {
  const kind = kindOf(id)
  const query = kind === 'metric' ? { include_snapshots: false } : undefined
  return (await api.get(ROUTES[kind].one, { path: pathOf(table, id), query, signal })).data
}

/** Changes some fields of a check. */
export async function updateCheck(table: string, id: string, body: FormBody): Promise<void> {
  await api.patch(ROUTES[kindOf(id)].one, {
    path: pathOf(table, id),
    body: bodyOf<never>(body),
  })
}

/** Deletes a check with its results. */
export async function deleteCheck(table: string, id: string): Promise<void> {
  await api.delete(ROUTES[kindOf(id)].one, { path: pathOf(table, id) })
}

/** How a run of a check ended. */
export interface CheckRun {
  /** In lower case. */
  status: string
  message: string | null
  /** The reply of a comparison, with rows that differ, which are shown only then. */
  comparison?: ComparisonExecution
}

/** Runs a check and waits for its end. */
export async function runCheck(table: string, id: string): Promise<CheckRun> {
  const kind = kindOf(id)
  const options = { path: pathOf(table, id), timeoutMs: MEASURE_TIMEOUT_MS }
  if (kind === 'metric') {
    const { data } = await api.post('/api/v1/sdk/metrics/{asset_id}/{metric_id}/capture', options)
    const statuses = data.snapshots.map(({ status }) => status)
    const worst = (['ERROR', 'FAIL'] as const).find(status => statuses.includes(status)) ?? 'PASS'
    const failed = data.snapshots.find(({ error_message: message }) => message !== null)
    return { status: worst.toLowerCase(), message: failed?.error_message ?? null }
  }
  if (kind === 'comparison') {
    const path = '/api/v1/sdk/comparisons/{asset_id}/{comparison_id}/execute'
    const { data } = await api.post(path, options)
    return { status: data.status, message: data.error_message, comparison: data }
  }
  const { data } =
    kind === 'validity'
      ? await api.post('/api/v1/sdk/validity/{asset_id}/{rule_id}/check', {
          ...options,
          body: { sample_limit: 0 },
        })
      : await api.post('/api/v1/sdk/referential/{asset_id}/{check_id}/execute', options)
  return { status: data.status, message: data.error_message }
}

/** Measures a check that is not stored. It asks the source. */
export async function dryRunCheck(kind: CheckKind, body: FormBody): Promise<DryRun> {
  return (
    await api.post(ROUTES[kind].dryRun, {
      body: bodyOf<never>(body),
      timeoutMs: MEASURE_TIMEOUT_MS,
    })
  ).data
}
