import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningStatement, Warehouse } from '../warehouse.ts'
import type { Catalog, DatasetSpec } from './catalog.ts'
import { write } from './ddl.ts'
import type { QueryRequest } from './requests.ts'
import { wireResult, type WireResult } from './results.ts'
import { BigqueryFailure, quoteName, statementsOf, tokenize, type Token } from './tokens.ts'
import { translate } from './translate.ts'

/** What the service knows of the project. */
export interface Project {
  id: string
  datasets: readonly DatasetSpec[]
  /** Tables that the account may not read. */
  restricted: Set<string>
  /** Datasets on which the account has rights on single tables only. */
  narrow: Set<string>
  /** Datasets on which it has none. */
  closed: Set<string>
  /** Datasets whose keys the account may not read. */
  keyless: Set<string>
  /** Whether the account has rights on datasets only. */
  hidesRegions: boolean
  /** Whether the name of the next page gets lost on the way. */
  losesPages: boolean
}

interface Job {
  id: string
  location: string
  /** For all tables that it names. */
  billedBytes: number
  running?: RunningStatement
  /** Settles when the job has ended, whichever way. */
  ended: Promise<void>
  result?: WireResult
  failure?: BigqueryFailure
  /** Why it was interrupted. */
  stopped?: BigqueryFailure
  deadline?: NodeJS.Timeout
}

/** Rows of a page are few, so that longer results have pages; of the first one fewer. */
const FIRST_PAGE = 3
const PAGE = 4_000
/** What each table of a query is billed for at least. */
const LEAST_BYTES = 10 * 1024 * 1024

/** Runs queries as jobs. */
export class Jobs {
  readonly #warehouse: Warehouse
  readonly #catalog: Catalog
  readonly #project: Project
  readonly #jobs = new Map<string, Job>()
  /** Jobs by what asked for them: the same request again is answered by the same job. */
  readonly #asked = new Map<string, { body: string; job: Job }>()

  constructor(warehouse: Warehouse, catalog: Catalog, project: Project) {
    this.#warehouse = warehouse
    this.#catalog = catalog
    this.#project = project
  }

  /** https://cloud.google.com/bigquery/docs/reference/rest/v2/jobs/query */
  async query(request: QueryRequest): Promise<object> {
    const { requestId, timeoutMs = 10_000, maxResults } = request
    const known = requestId === undefined ? undefined : this.#asked.get(requestId)
    const body = JSON.stringify(request)
    if (known && known.body !== body)
      throw new BigqueryFailure(409, 'duplicate', 'The requestId was used before')
    const job = known?.job ?? this.#start(request)
    if (requestId !== undefined) this.#asked.set(requestId, { body, job })
    const reply = await this.#reply(job, timeoutMs, 0, Math.min(maxResults ?? FIRST_PAGE, FIRST_PAGE))
    const kind = 'bigquery#queryResponse'
    if (!request.dryRun) return { kind, ...reply }
    // A dry run makes no job that could be asked after.
    const jobReference = { projectId: this.#project.id, location: job.location }
    return { kind, jobReference, jobComplete: true, totalBytesProcessed: String(job.billedBytes) }
  }

  /** https://cloud.google.com/bigquery/docs/reference/rest/v2/jobs/getQueryResults */
  async results(id: string, query: URLSearchParams): Promise<object> {
    const job = this.#find(id, query.get('location'))
    if (query.get('formatOptions.useInt64Timestamp') !== 'true')
      throw new BigqueryFailure(400, 'badRequest', 'The double has integer timestamps only')
    const from = Number(query.get('pageToken') ?? 0)
    const size = Math.min(Number(query.get('maxResults') ?? PAGE), PAGE)
    return {
      kind: 'bigquery#getQueryResultsResponse',
      etag: randomUUID(),
      ...(await this.#reply(job, Number(query.get('timeoutMs') ?? 10_000), from, size)),
    }
  }

  /** https://cloud.google.com/bigquery/docs/reference/rest/v2/jobs/cancel */
  cancel(id: string, location: string | null): object {
    const job = this.#find(id, location)
    stop(job, new BigqueryFailure(499, 'stopped', 'Job execution was cancelled: User requested cancellation'))
    const jobReference = { projectId: this.#project.id, jobId: id, location: job.location }
    return {
      kind: 'bigquery#jobCancelResponse',
      job: { kind: 'bigquery#job', jobReference, status: { state: 'DONE' } },
    }
  }

  close(): void {
    for (const { deadline } of this.#jobs.values()) clearTimeout(deadline)
  }

  #find(id: string, location: string | null): Job {
    const job = this.#jobs.get(id)
    // Only jobs of the multi-regions are found without it.
    if (!job || (location !== null && location !== job.location)) {
      throw new BigqueryFailure(
        404,
        'notFound',
        `Not found: Job ${this.#project.id}:${location ?? 'US'}.${id}`,
      )
    }
    return job
  }

  #start(request: QueryRequest): Job {
    const statements = statementsOf(tokenize(request.query))
    const { location, billedBytes } = this.#locate(statements.flat(), request)
    const job: Job = { id: `job_${randomUUID()}`, location, billedBytes, ended: Promise.resolve() }
    job.ended = this.#run(job, statements, request).then(
      result => void (job.result = result),
      (error: unknown) => void (job.failure = job.stopped ?? asFailure(error)),
    )
    this.#jobs.set(job.id, job)
    if (request.jobTimeoutMs !== undefined) {
      const late = new BigqueryFailure(400, 'stopped', `Job timed out after ${request.jobTimeoutMs} ms`)
      job.deadline = setTimeout(() => stop(job, late), Number(request.jobTimeoutMs))
      void job.ended.then(() => clearTimeout(job.deadline))
    }
    return job
  }

  /** A text of several statements is a script, which runs to its end, whatever its statements do. */
  async #run(job: Job, statements: Token[][], request: QueryRequest): Promise<WireResult> {
    if (statements.length === 0)
      throw new BigqueryFailure(400, 'invalidQuery', 'Syntax error: Unexpected end of script')
    let result: WireResult = { fields: [], rows: [] }
    for (const tokens of statements) {
      const first = tokens.find(({ text }) => text !== '(')
      if (first?.text !== 'select' && first?.text !== 'with') {
        await write(this.#warehouse, this.#catalog, tokens)
        continue
      }
      const { text, values } = translate(tokens, request.queryParameters)
      const { projectId = '', datasetId = '' } = request.defaultDataset ?? {}
      const path = `${quoteName(projectId)}.${quoteName(datasetId)},memory.main`
      const zone = request.connectionProperties?.find(({ key }) => key === 'time_zone')?.value
      const setUp = [
        `set TimeZone = '${zone ?? 'America/Los_Angeles'}'`,
        ...(request.defaultDataset ? [`set search_path = '${path}'`] : []),
      ]
      // A dry run resolves names and types, and reads nothing.
      job.running = this.#warehouse.start(request.dryRun ? `describe ${text}` : text, values, setUp)
      if (job.stopped) job.running.interrupt()
      result = wireResult(await job.running.result)
    }
    return result
  }

  async #reply(job: Job, timeoutMs: number, from: number, size: number): Promise<object> {
    await Promise.race([job.ended, sleep(Math.min(timeoutMs, 200_000), undefined, { ref: false })])
    const jobReference = { projectId: this.#project.id, jobId: job.id, location: job.location }
    if (job.failure) throw job.failure
    if (!job.result) return { jobReference, jobComplete: false }
    const { fields, rows } = job.result
    const page = rows.slice(from, from + size)
    const isLast = from + size >= rows.length
    return {
      jobReference,
      jobComplete: true,
      schema: { fields },
      totalRows: String(rows.length),
      totalBytesProcessed: '0',
      cacheHit: false,
      // Without rows there is no member for them.
      ...(page.length > 0 && { rows: page }),
      ...(!isLast && !this.#project.losesPages && { pageToken: String(from + size) }),
    }
  }

  /** What a query is billed for at least, and where it runs: where it says, or where what it names lies, which must be one place. */
  #locate(tokens: readonly Token[], request: QueryRequest): Pick<Job, 'location' | 'billedBytes'> {
    const { id, datasets, restricted, keyless, hidesRegions } = this.#project
    let { location } = request
    const named = new Set<string>()
    for (const [index, token] of tokens.entries()) {
      const [dataset, third] = [tokens[index + 2], tokens[index + 4]]
      const isPath =
        token.kind === 'name' && tokens[index + 1]?.text === '.' && tokens[index + 3]?.text === '.'
      if (!isPath || dataset?.kind !== 'name' || !third || tokens[index - 1]?.text === '.') continue
      const name = `${token.text}:${dataset.text}.${third.kind === 'name' ? third.text : 'INFORMATION_SCHEMA'}`
      if (token.text !== id) throw new BigqueryFailure(404, 'notFound', `Not found: Project ${token.text}`)
      const region = /^region-(.+)$/.exec(dataset.text)?.[1]?.toUpperCase()
      const home = region ?? datasets.find(each => each.name === dataset.text)?.location
      const where = ` was not found in location ${location ?? home ?? 'US'}`
      if (home === undefined)
        throw new BigqueryFailure(404, 'notFound', `Not found: Dataset ${id}:${dataset.text}${where}`)
      location ??= home
      if (home !== location)
        throw new BigqueryFailure(404, 'notFound', `Not found: Dataset ${id}:${dataset.text}${where}`)
      const isKeyless = keyless.has(dataset.text) && /usage$/.test(tokens[index + 6]?.text ?? '')
      if (restricted.has(third.text) || isKeyless || (region !== undefined && hidesRegions)) {
        const message = `Access Denied: Table ${name}: User does not have permission to query table ${name}, or perhaps it does not exist.`
        throw new BigqueryFailure(403, 'accessDenied', message)
      }
      named.add(`${dataset.text}.${third.text}`)
    }
    const billed = named.size * LEAST_BYTES
    const most = request.maximumBytesBilled
    if (most !== undefined && billed > Number(most)) {
      const message = `Query exceeded limit for bytes billed: ${most}. ${billed} or higher required.`
      throw new BigqueryFailure(400, 'bytesBilledLimitExceeded', message)
    }
    return { location: location ?? 'US', billedBytes: billed }
  }
}

function stop(job: Job, why: BigqueryFailure): void {
  if (job.result || job.failure) return
  job.stopped ??= why
  job.running?.interrupt()
}

/** What DuckDB says, in BigQuery's words. */
export function asFailure(error: unknown): BigqueryFailure {
  if (error instanceof BigqueryFailure) return error
  const { message } = error as Error
  const table = /Table with name (.+?) does not exist/.exec(message)?.[1]
  if (table !== undefined)
    return new BigqueryFailure(404, 'notFound', `Not found: Table ${table} was not found in location US`)
  const column = /Referenced column "(.+?)" (?:was )?not found/.exec(message)?.[1]
  if (column !== undefined)
    return new BigqueryFailure(400, 'invalidQuery', `Unrecognized name: ${column} at [1:8]`)
  const isQuery =
    /^(Failed to extract statements: )?(Parser|Binder|Catalog|Conversion|Invalid Input|Out of Range) Error/.test(
      message,
    )
  return isQuery
    ? new BigqueryFailure(400, 'invalidQuery', message)
    : new BigqueryFailure(500, 'internalError', message)
}
