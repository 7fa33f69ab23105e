import { createServer } from 'node:http'
import { resolve } from 'node:path'
import Hapi, { type Plugin, type Request, type Server } from '@hapi/hapi'
import { Model } from 'objection'
import hapiPino from 'hapi-pino'
import type { Logger } from 'pino'
import type { CheckType } from '../checks/check.ts'
import type { Connector, Egress } from '../connectors/connector.ts'
import { installAdmission, requireDeclaredAccess } from './http/admission.ts'
import { handleClientErrors } from './http/client-errors.ts'
import type { Config } from './settings/config.ts'
import { isAway, migrate, openDatabase, type Database } from './database/database.ts'
import { DEFAULT_DEADLINES, type Deadlines } from './deadlines.ts'
import { installDrain } from './process/drain.ts'
import { parseDatabaseUrl, sourceEgress, type EgressPolicy, type SourcePolicy } from './security/egress.ts'
import { installEntityTags } from './http/entity-tags.ts'
import { installHealth } from './telemetry/health.ts'
import { guardExtensions } from './extension-guards.ts'
import { loadExtensions } from './extensions.ts'
import { logExtensions, type LoadedExtension } from './extensions/loaded.ts'
import { installJsonIndent } from './http/json-indent.ts'
import { replyFields, requestFields, requestLogger } from './telemetry/log.ts'
import { makeJobs, type Jobs } from './jobs/jobs.ts'
import { thinCountsJob } from './jobs/thin-counts.ts'
import { appRolePassword } from './security/installation.ts'
import { installHeavyRequests } from './fairness/heavy-requests.ts'
import { installIdempotency } from './http/idempotency.ts'
import { installLimits } from './http/limits.ts'
import { openMail, type Mail } from './mail/mail.ts'
import { manifest } from './manifest.ts'
import { openMetrics, readAtScrapes } from './telemetry/listener.ts'
import {
  createComingMonths,
  maintainPartitionsJob,
  partitionFamilyShape,
  type PartitionFamily,
} from './database/partitions.ts'
import { expireRowsJob, type Retention } from './database/retention.ts'
import { Registry } from './registry.ts'
import { onInvalid, shapeReplies } from './http/replies.ts'
import { VALIDATION_OPTIONS } from './http/validation-messages.ts'
import { followRequests } from './telemetry/requests.ts'
import { checkShape, connectorShape } from './extension-schemas.ts'
import { makeTelemetry, type Telemetry } from './telemetry/telemetry.ts'
import { createTextPool, type TextPool } from './text-pool/text-pool.ts'
import type { ApiParts } from './openapi/tags.ts'
import { warnOfMissingTypes, type TypesInUse } from './types-in-use.ts'
import { makeVault, type SealedColumn, type Vault } from './security/vault.ts'

declare module '@hapi/hapi' {
  interface Server {
    config: Config
    db: Database
    jobs: Jobs
    vault: Vault
    /** Called once the server listens, with a function that prints for the person who started it. */
    afterStart: ((print: (line: string) => void) => Promise<void>)[]
    /** What `/openapi.json` says of sections and the like; each feature sets its own. */
    apiParts: ApiParts
    /** The encrypted columns, from the features that own them: encrypted again when the key changes. */
    sealed: SealedColumn[]
    /** What companies use by names that extensions add, from the features that store them. */
    typesInUse: TypesInUse[]
    /** What EXTENSIONS names, as it was loaded. */
    loadedExtensions: readonly LoadedExtension[]
    /** How long calls into extensions may take. */
    deadlines: Deadlines
    telemetry: Telemetry
    /** Threads that read text from outside. */
    textPool: TextPool
    sourceEgress: Egress
    /** What a source may reach whose files are in one folder, whatever FILE_SOURCES is. */
    egressForFolder(folder: string): Egress
    /** What webhooks and other calls of ours may reach. */
    egress: EgressPolicy
    mail: Mail | null
    connectors: Registry<Connector>
    checks: Registry<CheckType>
    /** Tables that are partitioned by months, from the features that own them. */
    partitions: Registry<PartitionFamily>
    /** How long rows of other tables are kept, from the features that own them. */
    retention: Retention[]
    /** The process's logger, for what is not a request or a job. */
    pino: Logger
  }
}

/** What a process needs to know beside its settings. */
export interface BuildOptions {
  config: Config
  log: Logger
  /** The owner's URL: DATABASE_URL, or that of the embedded PostgreSQL. */
  ownerUrl: string
  /** As `makeVault` takes it. */
  secretKey: string | (() => string)
  /** CIDRs sources may reach when EGRESS_ALLOW is not set. */
  sourceAllow?: readonly string[]
  /** CIDRs webhooks may reach when EGRESS_ALLOW is not set; for tests. */
  webhookAllow?: readonly string[]
  /** Whether sweeps run by the clock; tests start them by hand. */
  sweeps?: boolean
  /** Defaults to everything the program consists of; tests leave features out. */
  plugins?: readonly Plugin<undefined>[]
  /** Whether jobs can be waited for; for tests. */
  spies?: boolean
  /** Shorter ones, for tests. */
  deadlines?: Partial<Deadlines>
}

/**
 * Puts the server together: migrated database, job engine, features, engines, checks, extensions. The one
 * door for production and tests. It neither listens nor works jobs until `server.start()`.
 */
export async function build(options: BuildOptions): Promise<Server> {
  const { config, log, ownerUrl } = options
  const server = await assemble(options)
  const { db, jobs, vault } = server
  let closeMetrics = async () => {}
  const close = async () => {
    await jobs.stop()
    await server.textPool.stop()
    await closeMetrics()
    server.mail?.close()
    await (db as Partial<Database>).close?.()
  }
  try {
    const appUrl = await migrate({
      ownerUrl,
      dataDir: config.databaseUrl === undefined ? resolve(config.dataDir) : undefined,
      appUrl: config.appDatabaseUrl,
      appPassword: trx => appRolePassword(trx, vault, server.sealed),
      migrations: manifest.migrations,
      prepareJobs: () => jobs.prepare(),
      log,
    })
    Object.assign(db, openDatabase({ ownerUrl, appUrl, log }))
    await prepareMonths(server)
  } catch (error) {
    // What is open by then would keep the process.
    await close().catch(() => undefined)
    throw error
  }
  server.ext('onPostStart', async () => {
    closeMetrics = await openMetrics(server)
    await jobs.start(server, config.role)
    logExtensions(log, server.loadedExtensions)
    await warnOfMissingTypes(server)
  })
  server.ext('onPostStop', close)
  return server
}

/** All of a server that needs no database: enough to describe its API. */
export async function assemble(options: BuildOptions): Promise<Server> {
  const { config, log, ownerUrl } = options
  const vault = makeVault(options.secretKey)
  const jobs = makeJobs({
    url: ownerUrl,
    log,
    role: config.role,
    sweeps: options.sweeps,
    spies: options.spies,
  })
  const server = hapi(config)
  server.decorate('server', 'config', config)
  server.decorate('server', 'vault', vault)
  server.decorate('server', 'sealed', [])
  server.decorate('server', 'typesInUse', [])
  server.decorate('server', 'deadlines', { ...DEFAULT_DEADLINES, ...options.deadlines })
  server.decorate('server', 'afterStart', [])
  server.decorate('server', 'retention', [])
  server.decorate('server', 'apiParts', { tags: {}, choices: {}, webhooks: {} })
  server.decorate('server', 'pino', log)
  server.decorate('server', 'jobs', jobs)
  server.decorate('server', 'connectors', new Registry<Connector>('connector', connectorShape))
  server.decorate('server', 'checks', new Registry<CheckType>('check type', checkShape))
  server.decorate('server', 'partitions', new Registry<PartitionFamily>('partitions', partitionFamilyShape))
  server.decorate('server', 'vocabularies', new Map(Object.entries(vocabulariesOf(server))))
  const policy = sourcePolicy(options)
  server.decorate('server', 'sourceEgress', sourceEgress(policy))
  server.decorate('server', 'egressForFolder', folder => sourceEgress({ ...policy, fileSources: [folder] }))
  server.decorate('server', 'mail', openMail(config) as Mail)
  server.decorate('server', 'egress', {
    allow: config.egressAllow ?? options.webhookAllow ?? [],
    ports: config.webhookPorts,
  })

  // Features hold it while the server is put together; it is opened by the role that migrating makes.
  server.decorate('server', 'db', {} as Database)
  server.decorate('server', 'telemetry', makeTelemetry(config.role))
  server.decorate('server', 'textPool', createTextPool())
  followRequests(server)
  handleClientErrors(server.listener, {
    log,
    onReply: status => server.telemetry.request('ANY', 'none', status, 0),
  })
  installHealth(server)
  readAtScrapes(server)
  shapeReplies(server)
  installJsonIndent(server)
  installEntityTags(server)
  await server.register({ plugin: hapiPino, options: requestLog(log) })
  installLimits(server)
  installAdmission(server)
  await server.register([...(options.plugins ?? manifest.plugins)])
  requireDeclaredAccess(server)
  installHeavyRequests(server)
  installIdempotency(server)
  installDrain(server)
  jobs.add(maintainPartitionsJob, expireRowsJob, thinCountsJob)
  server.connectors.add(...manifest.connectors)
  server.checks.add(...manifest.checks)
  guardExtensions(server)
  await loadExtensions(server, manifest.extensions)
  server.decorate('server', 'loadedExtensions', await loadExtensions(server, config.extensions))
  server.connectors.close()
  server.checks.close()
  server.partitions.close()
  return server
}

/** What the description lists of each registry. */
function vocabulariesOf(server: Server): Record<string, () => string[]> {
  const typesOf = (family: CheckType['family']) => () =>
    server.checks
      .all()
      .filter(check => check.family === family)
      .map(({ name }) => name)
  return {
    source_type: () => server.connectors.names(),
    rule_type: typesOf('rule'),
    metric_type: typesOf('metric'),
  }
}

/** Does not stop the start: rows of missing months go to the last partition. */
async function prepareMonths({ db, partitions, pino }: Server): Promise<void> {
  try {
    const { waiting } = await createComingMonths(work => db.system(work), partitions.all())
    if (waiting.length > 0)
      pino.warn({ tables: waiting }, 'tables are in use: their months are maintained in the next hour')
  } catch (error) {
    if (isAway(error)) throw error
    pino.error({ err: error }, 'partitions of the coming months cannot be created')
  }
}

/** The embedded server is ours as a whole; on one that was given to us, other databases may be sources. */
function sourcePolicy({ config, ownerUrl, ...options }: BuildOptions): SourcePolicy {
  const { host, port, database } = parseDatabaseUrl(ownerUrl)
  const owner = config.databaseUrl === undefined ? { host, port } : { host, port, database }
  return {
    allow: config.egressAllow ?? options.sourceAllow ?? [],
    fileSources: config.fileSources,
    own: [owner, ...(config.appDatabaseUrl ? [parseDatabaseUrl(config.appDatabaseUrl)] : [])],
  }
}

/** One short line a request from outside; what the server asks of itself (the demo does) has no port. */
function requestLog(log: Logger) {
  return {
    instance: requestLogger(log),
    logRequestStart: false,
    logRequestComplete: true,
    ignoreFunc: (_options: object, request: Request) => !request.info.remotePort,
    // The serializers need few fields; wrapped, pino would first build the whole request for each.
    wrapSerializers: false,
    serializers: { req: requestFields, res: replyFields },
  }
}

function hapi(config: Config): Server {
  // Node closes connections with slow headers or bodies; hapi's own payload timeout waits for the whole body.
  const listener = createServer({
    connectionsCheckingInterval: 2_000,
    headersTimeout: 10_000,
    requestTimeout: 20_000,
    // Node would answer a request without a host itself, with nothing.
    requireHostHeader: false,
  })
  // A worker does not listen: the port belongs to the web process with the same settings. hapi cannot stop a listener
  // cleanly that it never started.
  const place =
    config.role === 'worker'
      ? { autoListen: false, operations: { cleanStop: false } }
      : { port: config.port, host: config.host }
  return Hapi.server({
    ...place,
    listener,
    routes: {
      // Times without an offset are of this time zone.
      validate: {
        failAction: onInvalid,
        options: { ...VALIDATION_OPTIONS, context: { timezone: config.timezone } },
      },
      // Tests validate replies against their schemas; production does not pay for it. Range requests are not supported.
      response: { sample: 0, ranges: false },
      // Parsed by `shapeReplies`, once the values in it are counted; routes that take forms leave it to hapi. A field
      // `__proto__` is rejected like any unknown one.
      payload: {
        maxBytes: 1_048_576,
        allow: 'application/json',
        timeout: false,
        parse: 'gunzip',
        protoAction: 'ignore',
      },
      security: { hsts: false, noSniff: true, xframe: 'deny', referrer: 'no-referrer' },
    },
    router: { stripTrailingSlash: true },
  })
}

Model.useLimitInFirst = true
