import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeBigquery, type BigqueryConfig } from '../../connectors/bigquery/index.ts'
import type { ConnectOptions, Connector, Egress } from '../../connectors/connector.ts'
import { makeCatalog, type DatasetSpec } from './bigquery/catalog.ts'
import { write } from './bigquery/ddl.ts'
import { asFailure, Jobs, type Project } from './bigquery/jobs.ts'
import { authenticate, checkQuery, readQueryRequest, type Account } from './bigquery/requests.ts'
import { BigqueryFailure, statementsOf, tokenize } from './bigquery/tokens.ts'
import {
  openWarehouse,
  startService,
  type Answer,
  type Exchange,
  type Service,
  type Warehouse,
} from './warehouse.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** A project of BigQuery, doubled. */
export interface Bigquery {
  connector: Connector<BigqueryConfig>
  /** A `connection_config` that works, its key as an object. */
  config: Record<string, unknown>
  /** The same as validated. */
  settings: BigqueryConfig
  egress: Egress
  options: ConnectOptions
  service: Service
  warehouse: Warehouse
  project: string
  /** Runs one statement in GoogleSQL as the owner. */
  execute(text: string): Promise<void>
  /** Names a table that the account may not read. */
  restrict(table: string): void
  /** Leaves of the rights on a dataset only those on its tables that are not restricted. */
  narrow(dataset: string): void
  /** Takes all rights on a dataset. */
  closeDataset(dataset: string): void
  /** Takes the right on the keys of a dataset. */
  restrictKeys(dataset: string): void
  /** Takes the right on the catalog of whole regions, as where rights are granted on datasets only. */
  hideRegions(): void
  /** Loses the names of all pages but the first. */
  losePages(): void
  /** Queries that were asked for so far. */
  statements(): number
  /** Answers the next requests with a failure of this status and reason, before anything is done. */
  fail(...failures: [status: number, reason: string][]): void
  /** Makes all tokens run out that were signed until now. */
  expire(): void
}

export const PROJECT = 'tide-pool-1234'
/** The dataset of the tests, and one in another location. */
export const DATASETS: readonly DatasetSpec[] = [
  { name: 'shop', location: 'US' },
  { name: 'abroad', location: 'EU' },
]

const HOST = 'bigquery.googleapis.com'
const EMAIL = `observer@${PROJECT}.iam.gserviceaccount.com`
const DATASET_PAGE = 1
/** Each so-many-th request is refused as busy. */
const BUSY_EVERY = 50

let keys: { publicKey: string; privateKey: string } | undefined

/** A key pair in PEM form, the same for all tests of the process: making one takes a while. */
export function keyPair(): { publicKey: string; privateKey: string } {
  return (keys ??= generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }))
}

/** A service account's key file, as Google makes it. */
export function keyFile(privateKey = keyPair().privateKey): Record<string, string> {
  return {
    type: 'service_account',
    project_id: PROJECT,
    private_key_id: 'f00dfeed0123',
    private_key: privateKey,
    client_email: EMAIL,
    client_id: '123456789012345678901',
    auth_uri: 'https://accounts.google.com/o/oauth2/auth',
    token_uri: 'https://oauth2.googleapis.com/token',
    universe_domain: 'googleapis.com',
  }
}

/**
 * Starts a double of the BigQuery API, version 2, written from its reference
 * (https://cloud.google.com/bigquery/docs/reference/rest/v2) and before a DuckDB. It shows that requests are what the
 * reference says and that the numbers are right. That BigQuery takes our SQL it cannot show, and it is more lenient in
 * one thing that is known: a parameter that is a text is compared with numbers too.
 */
export async function startBigquery(t: Teardown): Promise<Bigquery> {
  const warehouse = await openWarehouse(t)
  const catalog = await makeCatalog(warehouse, PROJECT, DATASETS)
  const account: Account = {
    email: EMAIL,
    keyId: keyFile().private_key_id ?? '',
    publicKey: keyPair().publicKey,
    validFrom: 0,
  }
  const project: Project = {
    id: PROJECT,
    datasets: DATASETS,
    restricted: new Set(),
    narrow: new Set(),
    closed: new Set(),
    keyless: new Set(),
    hidesRegions: false,
    losesPages: false,
  }
  const jobs = new Jobs(warehouse, catalog, project)
  const failures: [number, string][] = []
  let count = 0
  let statements = 0

  async function route(exchange: Exchange): Promise<Answer> {
    authenticate(exchange, account)
    const path = decodeURIComponent(exchange.path).replace(/^\/bigquery\/v2\//, '')
    const [, id, rest = ''] = /^projects\/([^/]+)\/(.*)$/.exec(path) ?? []
    if (id === undefined) throw new BigqueryFailure(404, 'notFound', 'Not Found')
    if (id !== PROJECT) throw new BigqueryFailure(404, 'notFound', `Not found: Project ${id}`)
    const [name = '', item, action, table] = rest.split('/')
    const call = [exchange.method, name, item === undefined ? '' : '*', action ?? ''].join(' ').trim()
    switch (call) {
      case 'GET datasets':
        return { body: listDatasets(exchange) }
      case 'GET datasets *':
        checkQuery(exchange, ['datasetView', 'accessPolicyVersion'])
        if (project.closed.has(item ?? '')) throw denied(`Dataset ${PROJECT}:${item}`)
        return { body: getDataset(item ?? '') }
      case 'GET datasets * tables':
        checkQuery(exchange, ['view', 'selectedFields'])
        return { body: await getTable(item ?? '', table ?? '') }
      case 'POST queries':
        checkQuery(exchange, [])
        statements += 1
        return { body: await jobs.query(readQueryRequest(exchange)), isGzipped: isCompressed(exchange) }
      case 'GET queries *':
        checkQuery(exchange, RESULT_PARAMETERS)
        return { body: await jobs.results(item ?? '', exchange.query), isGzipped: isCompressed(exchange) }
      case 'POST jobs * cancel':
        checkQuery(exchange, ['location'])
        return { body: jobs.cancel(item ?? '', exchange.query.get('location')) }
      default:
        throw new BigqueryFailure(404, 'notFound', `Not Found: ${call}`)
    }
  }

  /** https://cloud.google.com/bigquery/docs/reference/rest/v2/tables/get */
  async function getTable(dataset: string, table: string): Promise<object> {
    getDataset(dataset)
    const isThere = await catalog.has(dataset, table)
    if (project.restricted.has(table) || (project.narrow.has(dataset) && !isThere))
      throw denied(`Table ${PROJECT}:${dataset}.${table}`)
    if (!isThere)
      throw new BigqueryFailure(404, 'notFound', `Not found: Table ${PROJECT}:${dataset}.${table}`)
    const tableReference = { projectId: PROJECT, datasetId: dataset, tableId: table }
    return { kind: 'bigquery#table', tableReference }
  }

  const service = await startService(t, [HOST], async exchange => {
    try {
      count += 1
      const failure = failures.shift()
      if (failure) throw new BigqueryFailure(...failure, `The service answers ${failure[1]}.`)
      if (count % BUSY_EVERY === 0)
        throw new BigqueryFailure(
          503,
          'backendError',
          'Error encountered during execution. Retrying may solve the problem.',
        )
      return await route(exchange)
    } catch (error) {
      return answerOf(asFailure(error))
    }
  })
  t.teardown(() => jobs.close())

  const egress: Egress = {
    async address(host) {
      if (host !== HOST) throw new Error(`The host is not Google's but ${host}`)
      return '127.0.0.1'
    },
    file: async path => path,
    folder: async path => path,
  }
  const connector = makeBigquery({ port: service.port })
  const config = { project_id: PROJECT, credentials_json: keyFile() }
  return {
    connector,
    config,
    settings: connector.config.validate(config).value as BigqueryConfig,
    egress,
    options: { egress, log: { debug: () => {}, warn: () => {} } },
    service,
    warehouse,
    project: PROJECT,
    async execute(text) {
      for (const tokens of statementsOf(tokenize(text))) await write(warehouse, catalog, tokens)
    },
    restrict: table => void project.restricted.add(table),
    narrow: dataset => void project.narrow.add(dataset),
    closeDataset: dataset => void project.closed.add(dataset),
    restrictKeys: dataset => void project.keyless.add(dataset),
    hideRegions: () => void (project.hidesRegions = true),
    losePages: () => void (project.losesPages = true),
    statements: () => statements,
    fail: (...given) => void failures.push(...given),
    expire: () => void (account.validFrom = Math.floor(Date.now() / 1000) + 1),
  }
}

// https://cloud.google.com/bigquery/docs/reference/rest/v2/jobs/getQueryResults#query-parameters
const RESULT_PARAMETERS = [
  'startIndex',
  'pageToken',
  'maxResults',
  'timeoutMs',
  'location',
  'formatOptions.useInt64Timestamp',
]

/** https://cloud.google.com/bigquery/docs/api-performance: gzip for who accepts it and says so in its name. */
function isCompressed({ headers }: Exchange): boolean {
  return /gzip/.test(headers['accept-encoding'] ?? '') && /gzip/.test(headers['user-agent'] ?? '')
}

/** https://cloud.google.com/bigquery/docs/reference/rest/v2/datasets/list */
function listDatasets(exchange: Exchange): object {
  checkQuery(exchange, ['maxResults', 'pageToken', 'all', 'filter'])
  const from = Number(exchange.query.get('pageToken') ?? 0)
  const most = Number(exchange.query.get('maxResults') ?? 50)
  const size = Math.min(DATASET_PAGE, most)
  const datasets = DATASETS.slice(from, from + size).map(describeDataset)
  const next = from + size < DATASETS.length ? { nextPageToken: String(from + size) } : {}
  return { kind: 'bigquery#datasetList', etag: randomUUID(), datasets, ...next }
}

function getDataset(name: string): object {
  const found = DATASETS.find(dataset => dataset.name === name)
  if (!found) throw new BigqueryFailure(404, 'notFound', `Not found: Dataset ${PROJECT}:${name}`)
  return { ...describeDataset(found), etag: randomUUID(), creationTime: '1700000000000' }
}

function denied(what: string): BigqueryFailure {
  return new BigqueryFailure(
    403,
    'accessDenied',
    `Access Denied: ${what}: User does not have access, or perhaps it does not exist.`,
  )
}

function describeDataset({ name, location }: DatasetSpec): object {
  const datasetReference = { projectId: PROJECT, datasetId: name }
  return { kind: 'bigquery#dataset', id: `${PROJECT}:${name}`, datasetReference, location }
}

/** https://cloud.google.com/bigquery/docs/error-messages#error-body */
function answerOf({ status, reason, message }: BigqueryFailure): Answer {
  const error = {
    code: status,
    message,
    errors: [{ message, domain: 'global', reason }],
    status: reason.toUpperCase(),
  }
  return { status, body: { error } }
}

/** A statement of the kit for the owner: quotes in texts with backslashes, keys not enforced. */
export function inGoogleSql(text: string): string {
  return text
    .replaceAll(
      /'(?:[^']|'')*'/g,
      found => `'${found.slice(1, -1).replaceAll('\\', '\\\\').replaceAll("''", "\\'")}'`,
    )
    .replaceAll(/(primary key \([^)]*\)|references `[^(]*\([^)]*\))/g, '$1 not enforced')
}

/** Waits until nothing runs in the warehouse. */
export async function untilIdle(warehouse: Warehouse): Promise<void> {
  for (let tries = 0; warehouse.running() > 0 && tries < 100; tries++) await sleep(20)
}
