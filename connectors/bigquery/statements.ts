import { randomUUID } from 'node:crypto'
import { unsendableError } from '../errors.ts'
import { RestFailure } from '../rest/errors.ts'
import { isBusyOrCut, REPEATABLE, type RestClient, type RetryPolicy } from '../rest/http.ts'
import type { RowPage, StatementApi, StatementProgress } from '../rest/statements.ts'
import type { StatementLimits } from '../session.ts'
import type { Sql } from '../sql.ts'
import type { BigqueryConfig } from './config.ts'
import { bigqueryDialect } from './dialect.ts'
import { ENGINE } from './errors.ts'
import { findSelectViolation } from './select-violation.ts'
import type { BigquerySigner } from './token.ts'
import { readRows, type BigqueryField, type BigqueryParameter, type BigqueryRow } from './values.ts'

/** A query with its parameters by position. */
export interface BigqueryStatement {
  text: string
  values: readonly BigqueryParameter[]
  /** Where it runs; by default BigQuery derives it from the tables that the statement names. */
  location?: string
  /** Whether it is only analysed: its one row has the `bytes` that it would process. */
  isDryRun?: true
}

/**
 * A statement as BigQuery takes it.
 * @throws ConnectorError of kind `invalid-query` for a value that cannot be bound, and for all but one query
 */
export function prepareStatement(statement: Sql, location?: string): BigqueryStatement {
  try {
    const { text, values } = bigqueryDialect.render(statement) as {
      text: string
      values: BigqueryParameter[]
    }
    const refusal = findSelectViolation(text)
    if (refusal !== null) throw new TypeError(refusal)
    return { text, values, location }
  } catch (cause) {
    throw unsendableError(ENGINE, cause)
  }
}

/** https://cloud.google.com/bigquery/docs/reference/rest/v2/jobs/query#response-body */
interface BigqueryReply {
  jobComplete?: boolean
  jobReference?: { jobId?: string; location?: string }
  schema?: { fields?: BigqueryField[] }
  rows?: BigqueryRow[]
  totalRows?: string
  pageToken?: string
  totalBytesProcessed?: string
  errors?: { reason?: string; message?: string }[]
}

/**
 * How long the first reply waits for the end of a statement, in ms. What takes longer costs a second request, which
 * is free; a caller who gives up waits as long for the job's id.
 */
const FIRST_WAIT_MS = 1_000
/** How long each later reply waits, in ms. */
const NEXT_WAIT_MS = 10_000

/** Reasons for which BigQuery asks to be asked again. */
const TRANSIENT_REASON =
  /^(rateLimitExceeded|jobRateLimitExceeded|backendError|internalError|jobBackendError|jobInternalError)$/
const hasTransientReason = (failure: unknown) =>
  failure instanceof RestFailure && TRANSIENT_REASON.test(failure.code)
const RETRY: RetryPolicy = {
  pausesMs: [500, 2000, 4000],
  isTransient: failure => hasTransientReason(failure) || isBusyOrCut(failure),
}

/** What is known of a statement's result while it is read. */
interface BigqueryResult {
  maxResults: number | undefined
  fields: BigqueryField[]
  /** Rows so far. */
  seen: number
}

const LABELS = { tool: 'tidemark' }

export interface BigqueryApi extends StatementApi<BigqueryStatement> {
  /**
   * Has BigQuery analyse a statement in a dry run, which is free and reads no rows.
   * @returns the bytes that it would process, at most; undefined where BigQuery does not say
   */
  dryRun(statement: BigqueryStatement): Promise<number | undefined>
}

/** The path of a project's resources. */
export function projectPath({ project_id: project }: BigqueryConfig): string {
  return `/bigquery/v2/projects/${encodeURIComponent(project)}`
}

/**
 * Statements by `jobs.query`, which runs short ones within one request, takes a token that may only read, and, by its
 * `requestId`, does nothing twice when it is asked again. `jobs.insert` would take an id of our own, so that a job
 * could be cancelled before the first reply, for one more request of every statement and a token that may write.
 *
 * Results come from BigQuery's cache where no table has changed since, which costs nothing and gives the same.
 * @param maxBytes the most bytes that a statement may be billed for, whatever the configuration allows
 */
export function makeBigqueryApi(
  http: RestClient,
  config: BigqueryConfig,
  { sign, maxBytes }: { sign: BigquerySigner; maxBytes: number | undefined },
): BigqueryApi {
  const project = projectPath(config)
  /** By the job's id: a late reply of a statement that was given up must not be read as the next one's. */
  const results = new Map<string, BigqueryResult>()

  function readProgress(body: unknown, maxResults: number | undefined): StatementProgress {
    const { jobReference, jobComplete, schema, errors: [failure] = [] } = (body ?? {}) as BigqueryReply
    if (jobReference?.jobId === undefined) throw new RestFailure(200, { code: 'NO_BIGQUERY' })
    const id = `${jobReference.location ?? ''}/${jobReference.jobId}`
    const result: BigqueryResult = { maxResults, fields: schema?.fields ?? [], seen: 0 }
    results.set(id, result)
    if (jobComplete !== true) return { id }
    // Every query has columns: without them it failed, and no rows would be taken for none found.
    if (result.fields.length === 0) {
      throw new RestFailure(200, { code: failure?.reason ?? 'NO_BIGQUERY', message: failure?.message })
    }
    return { id, first: readPage(result, body as BigqueryReply) }
  }

  function readPage(result: BigqueryResult, { rows = [], totalRows, pageToken }: BigqueryReply): RowPage {
    result.seen += rows.length
    // Without this, rows that were lost on the way would be rows that there are not.
    if (!pageToken && result.seen !== Number(totalRows)) throw new RestFailure(200, { code: 'INCOMPLETE' })
    return { rows: readRows(result.fields, rows), ...(pageToken && { next: pageToken }) }
  }

  async function getResults(id: string, query: Record<string, string | number>, signal: AbortSignal) {
    const { jobId, location } = parseJobId(id)
    const { maxResults } = resultOf(id)
    const format = { 'formatOptions.useInt64Timestamp': true }
    const wanted = { ...location, ...(maxResults !== undefined && { maxResults }), ...format, ...query }
    const path = `${project}/queries/${encodeURIComponent(jobId)}`
    return (await http.get(path, { query: wanted, signal })).body
  }

  function resultOf(id: string): BigqueryResult {
    const result = results.get(id)
    if (!result) throw new TypeError(`The job ${id} is not one of this session.`)
    return result
  }

  async function submit(body: object): Promise<unknown> {
    let requestId = randomUUID()
    const reply = await http.send({
      method: 'POST',
      path: `${project}/queries`,
      body: { ...body, requestId },
      retry: RETRY,
      againWith(failure) {
        // What failed is not to be answered again; what may have arrived is not to run twice.
        if (hasTransientReason(failure)) requestId = randomUUID()
        return { body: { ...body, requestId } }
      },
    })
    return reply.body
  }

  function describeQuery({ text, values, location }: BigqueryStatement) {
    const { dataset } = config
    return {
      query: text,
      useLegacySql: false,
      ...(values.length > 0 && { parameterMode: 'POSITIONAL', queryParameters: values }),
      ...(dataset !== undefined && { defaultDataset: { projectId: config.project_id, datasetId: dataset } }),
      ...(location !== undefined && { location }),
    }
  }

  return {
    async dryRun(statement) {
      const reply = await submit({ ...describeQuery(statement), dryRun: true, labels: LABELS })
      const { totalBytesProcessed: bytes } = (reply ?? {}) as BigqueryReply
      return bytes === undefined ? undefined : Number(bytes)
    },
    async start(statement, { timeoutMs, maxRows }: StatementLimits) {
      const maxResults = maxRows === undefined ? undefined : Math.max(1, maxRows)
      const limits = [config.maximum_bytes_billed, maxBytes].filter(limit => limit !== undefined)
      const reply = await submit({
        ...describeQuery(statement),
        ...(maxResults !== undefined && { maxResults }),
        ...(limits.length > 0 && { maximumBytesBilled: String(Math.min(...limits)) }),
        timeoutMs: Math.min(FIRST_WAIT_MS, Math.max(1, Math.ceil(timeoutMs))),
        jobTimeoutMs: String(Math.max(1, Math.ceil(timeoutMs))),
        formatOptions: { useInt64Timestamp: true },
        // A project may have another time zone, in which texts without one would be read.
        connectionProperties: [{ key: 'time_zone', value: 'UTC' }],
        labels: LABELS,
      })
      return readProgress(reply, maxResults)
    },
    async poll(id, signal) {
      return readProgress(await getResults(id, { timeoutMs: NEXT_WAIT_MS }, signal), resultOf(id).maxResults)
    },
    async page(id, next, signal) {
      return readPage(resultOf(id), (await getResults(id, { pageToken: next }, signal)) as BigqueryReply)
    },
    async cancel(id) {
      const { jobId, location } = parseJobId(id)
      await http.send({
        method: 'POST',
        path: `${project}/jobs/${encodeURIComponent(jobId)}/cancel`,
        query: location,
        headers: { authorization: sign('cancel') },
        retry: REPEATABLE,
      })
    },
  }
}

/** A job is known by its id and its location. */
function parseJobId(id: string): { jobId: string; location: { location?: string } } {
  const slash = id.indexOf('/')
  const location = id.slice(0, slash)
  return { jobId: id.slice(slash + 1), location: location === '' ? {} : { location } }
}
