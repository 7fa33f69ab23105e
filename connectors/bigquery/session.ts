import type { ConnectOptions } from '../connector.ts'
import { rejectOnAbort, withConnectTimeout } from '../dial.ts'
import { abortedError } from '../errors.ts'
import { RestFailure } from '../rest/errors.ts'
import { openRestClient, type RestClient } from '../rest/http.ts'
import { makeRestSession, runRestStatement } from '../rest/statements.ts'
import type { EngineSession, StatementLimits } from '../session.ts'
import type { StageReporter } from '../stages.ts'
import { readServiceAccount, type BigqueryConfig } from './config.ts'
import { classifyBigqueryError, readFailureBody, ENGINE } from './errors.ts'
import { projectPath, makeBigqueryApi, type BigqueryStatement } from './statements.ts'
import { makeBigquerySigner } from './token.ts'

const HOST = 'bigquery.googleapis.com'
const DATASETS_PER_PAGE = 1000

/** A dataset and where it lies: a statement runs in one location and reads only what is there. */
export interface BigqueryDataset {
  name: string
  location: string
}

/** A session with a project. There is none in BigQuery: each statement stands alone. */
export interface BigquerySession extends EngineSession<BigqueryStatement> {
  /** The datasets that the configuration means and the account may see; asked again each time, for free. */
  listDatasets(signal?: AbortSignal): Promise<BigqueryDataset[]>
  /**
   * Asks for a dataset or for a table in it, for free.
   * @returns whether the configuration means the dataset; true of a table
   * @throws ConnectorError with code `notFound` where there is none
   */
  lookUp(dataset: string, table?: string): Promise<boolean>
  /** Where statements run that do not say it; undefined leaves it to BigQuery. */
  location?: string
}

/** https://cloud.google.com/bigquery/docs/reference/rest/v2/datasets */
interface DatasetResource {
  datasetReference?: { datasetId?: string }
  location?: string
}

/**
 * Opens a session: one request that costs nothing, of the dataset that is named or of any, shows that the key and the
 * project are good. Rejects with ConnectorError.
 */
export async function openSession(
  port: number,
  config: BigqueryConfig,
  options: ConnectOptions,
  step?: StageReporter,
): Promise<BigquerySession> {
  try {
    const account = readServiceAccount(config)
    const sign = makeBigquerySigner(account)
    const http = await openRestClient(
      { engine: ENGINE, host: HOST, port },
      options,
      {
        // Replies are compressed for clients that say gzip here as well.
        headers: () => ({ authorization: sign('read'), 'user-agent': 'tidemark/1.0 (gzip)' }),
        describe: readFailureBody,
      },
      step,
    )
    try {
      const known = await withConnectTimeout(ENGINE, options, signal => readDatasets(http, config, 1, signal))
      step?.('sign_in', `Signed in as ${account.client_email} to the project ${config.project_id}.`)
      const { onStatement, maxBytesPerStatement: maxBytes } = options
      const api = makeBigqueryApi(http, config, { sign, maxBytes })
      const dryRun = (statement: BigqueryStatement, { timeoutMs }: StatementLimits, signal: AbortSignal) =>
        rejectOnAbort(api.dryRun(statement), AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]))
      const backend = { engine: ENGINE, classify: classifyBigqueryError, onStatement }
      const session = makeRestSession<BigqueryStatement>(
        http,
        backend,
        async (statement, limits, signal) =>
          statement.isDryRun
            ? [{ bytes: (await dryRun(statement, limits, signal)) ?? null }]
            : runRestStatement(ENGINE, api, statement, limits, signal),
        dryRun,
      )
      return {
        ...session,
        location: config.location ?? (config.dataset === undefined ? undefined : known[0]?.location),
        async lookUp(dataset, table) {
          const path = `${projectPath(config)}/datasets/${encodeURIComponent(dataset)}`
          try {
            if (table === undefined) return isInLocation(config, await readLocation(http, path))
            const query = { view: 'BASIC', selectedFields: 'tableReference' }
            const at = `${path}/tables/${encodeURIComponent(table)}`
            await http.get(at, { query })
            return true
          } catch (error) {
            throw classifyBigqueryError(error)
          }
        },
        async listDatasets(signal) {
          try {
            const all = await readDatasets(http, config, DATASETS_PER_PAGE, signal)
            return all.filter(({ location }) => isInLocation(config, location))
          } catch (error) {
            throw signal?.aborted ? abortedError(ENGINE, error) : classifyBigqueryError(error)
          }
        },
      }
    } catch (error) {
      http.close()
      throw error
    }
  } catch (error) {
    throw classifyBigqueryError(error)
  }
}

function isInLocation({ location: wanted }: BigqueryConfig, location: string): boolean {
  return wanted === undefined || wanted.toLowerCase() === location.toLowerCase()
}

async function readLocation(http: RestClient, path: string): Promise<string> {
  return readDataset((await http.get(path)).body).location
}

/** The dataset of the configuration, or the first page or all of those that the account may see. */
async function readDatasets(
  http: RestClient,
  config: BigqueryConfig,
  maxResults: number,
  signal?: AbortSignal,
): Promise<BigqueryDataset[]> {
  const path = `${projectPath(config)}/datasets`
  const get = async (at: string, query: Record<string, string | number> = {}) =>
    (await http.get(at, { query, signal })).body
  if (config.dataset !== undefined) {
    return [readDataset(await get(`${path}/${encodeURIComponent(config.dataset)}`))]
  }
  const found: BigqueryDataset[] = []
  let pageToken: string | undefined
  do {
    const body = await get(path, { maxResults, ...(pageToken !== undefined && { pageToken }) })
    const { datasets = [], nextPageToken } = readList(body)
    found.push(...datasets.map(readDataset))
    pageToken = nextPageToken
  } while (pageToken !== undefined && maxResults > 1)
  return found
}

function readList(body: unknown): { datasets?: unknown[]; nextPageToken?: string } {
  const list = (body ?? {}) as { kind?: unknown; datasets?: unknown[]; nextPageToken?: string }
  if (list.kind !== 'bigquery#datasetList') throw new RestFailure(200, { code: 'NO_BIGQUERY' })
  return list
}

function readDataset(body: unknown): BigqueryDataset {
  const { datasetReference, location } = (body ?? {}) as DatasetResource
  const name = datasetReference?.datasetId
  if (name === undefined || location === undefined) throw new RestFailure(200, { code: 'NO_BIGQUERY' })
  return { name, location }
}
