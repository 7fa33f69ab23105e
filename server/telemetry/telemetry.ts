/** What a process counts and times of its own work, for Prometheus. No name and no value of a customer is a label. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { StatementUsage } from '../../connectors/connector.ts'
import { inTime } from '../http/health.ts'
import { tellSpan } from './spans.ts'
import { version } from '../version.ts'

/** What features tell of their work as it ends. */
export interface Telemetry {
  /** A request that was answered. @param route its path as a template, or `none` */
  request(method: string, route: string, status: number, ms: number): void
  /** One try of a job. */
  job(queue: string, result: 'completed' | 'failed' | 'gave_up', ms: number): void
  /** A scan of one table. */
  scan(engine: string, result: 'measured' | 'unreachable'): void
  /** A statement at a source that has ended. @param engine the connector's name @param purpose such as `scan` */
  statement(engine: string, purpose: string, taken: StatementUsage): void
  /** One attempt of a delivery. @param errorClass null when it got through */
  delivery(type: string, errorClass: string | null, ms: number): void
  /** What a measured value was found to be. @param subject `rule`, `metric` …  @param type of the rule or metric */
  verdict(subject: string, type: string, verdict: string): void
  /** Adds numbers that are read when they are asked for. */
  addReader(reader: Reader): void
  /** Starts to watch the process itself: its memory, its event loop, its garbage collector. */
  watchProcess(): void
  /** All of it in the text format of Prometheus, and the type of that text. */
  expose(): Promise<{ text: string; contentType: string }>
}

/** One number of a gauge that is read, and what tells it from the others. */
export interface Sample {
  labels: Record<string, string>
  value: number
}

/** Gauges that are read together. */
export interface Reader {
  /** By the gauge's name without `tidemark_`: what it says, and its labels. */
  gauges: Record<string, { help: string; labels: string[] }>
  /** Samples by the gauge's name. When it rejects, or takes 4.5 s, the gauges have none this time. */
  read(): Promise<Record<string, Sample[]>>
}

/** Seconds: a read from memory, a slow one, a statement at a source, one that is about to be ended. */
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60]
/** How deliveries end; what a third party's type says beyond that is `other`, so that it cannot add series for ever. */
const ERROR_CLASSES = [
  'egress_refused',
  'dns',
  'connect',
  'tls',
  'timeout',
  'protocol',
  'status',
  'configuration',
]

/** Makes the counters of one server; they share nothing with those of another in the same process. */
export function makeTelemetry(role: string): Telemetry {
  const registry = new Registry()
  const metrics = makeMetrics(registry)
  metrics.build.set({ version, role, node: process.version }, 1)
  return {
    request(method, route, status, ms) {
      metrics.requests.inc({ method, route, status: `${Math.floor(status / 100)}xx` })
      metrics.requestSeconds.observe({ method, route }, ms / 1_000)
    },
    job(queue, result, ms) {
      metrics.jobs.inc({ queue, result })
      metrics.jobSeconds.observe({ queue }, ms / 1_000)
    },
    scan: (engine, result) => metrics.scans.inc({ engine, result }),
    statement(engine, purpose, { statements, rows, bytes, durationMs, error }) {
      metrics.statements.inc({ engine, purpose, result: error?.kind ?? 'ok' }, statements)
      metrics.statementSeconds.observe({ engine, purpose }, durationMs / 1_000)
      metrics.rows.inc({ engine }, rows)
      metrics.bytes.inc({ engine }, bytes)
      tellSpan(`${purpose} ${engine}`, {
        attributes: {
          'db.system.name': engine,
          'db.operation.name': purpose,
          'db.response.returned_rows': rows,
        },
        ms: durationMs,
        ...(error && { error: error.kind }),
      })
    },
    delivery(type, errorClass, ms) {
      const failed = ERROR_CLASSES.includes(errorClass ?? '') ? errorClass! : 'other'
      metrics.deliveries.inc({ type, result: errorClass === null ? 'delivered' : failed })
      metrics.deliverySeconds.observe({ type }, ms / 1_000)
      tellSpan(`deliver ${type}`, {
        attributes: { 'tidemark.destination_type': type },
        ms,
        ...(errorClass !== null && { error: failed }),
      })
    },
    verdict: (subject, type, verdict) =>
      metrics.verdicts.inc({ subject, type, verdict: verdict.toLowerCase() }),
    addReader: reader => addReader(registry, reader),
    watchProcess: () => collectDefaultMetrics({ register: registry }),
    expose: async () => ({ text: await registry.metrics(), contentType: registry.contentType }),
  }
}

function makeMetrics(registry: Registry) {
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `tidemark_${name}_total`, help, labelNames, registers: [registry] })
  const seconds = (name: string, help: string, labelNames: string[]) =>
    new Histogram({
      name: `tidemark_${name}_seconds`,
      help,
      labelNames,
      buckets: BUCKETS,
      registers: [registry],
    })
  return {
    build: new Gauge({
      name: 'tidemark_build_info',
      help: 'The program that runs, and what it does',
      labelNames: ['version', 'role', 'node'],
      registers: [registry],
    }),
    requests: counter('http_requests', 'Requests answered', ['method', 'route', 'status']),
    requestSeconds: seconds('http_request_duration', 'How long requests took', ['method', 'route']),
    jobs: counter('jobs_worked', 'Tries of jobs by this process', ['queue', 'result']),
    jobSeconds: seconds('job_duration', 'How long tries of jobs took', ['queue']),
    scans: counter('scans', 'Tables scanned', ['engine', 'result']),
    statements: counter('source_statements', 'Statements sent to sources', ['engine', 'purpose', 'result']),
    statementSeconds: seconds('source_statement_duration', 'How long sources took to answer', [
      'engine',
      'purpose',
    ]),
    rows: counter('source_rows', 'Rows received from sources', ['engine']),
    bytes: counter('source_bytes', 'Bytes received from sources, where that is known', ['engine']),
    deliveries: counter('delivery_attempts', 'Attempts to deliver alerts', ['type', 'result']),
    deliverySeconds: seconds('delivery_duration', 'How long attempts to deliver took', ['type']),
    verdicts: counter('verdicts', 'What rules, metrics and freshness were found to be', [
      'subject',
      'type',
      'verdict',
    ]),
  }
}

/**
 * All gauges of a reader share one reading, since they are collected at the same time. One that takes too long counts
 * as failed: what a process tells of itself is wanted most when its database hangs.
 */
function addReader(registry: Registry, { gauges, read }: Reader): void {
  let reading: Promise<Record<string, Sample[]>> | undefined
  const share = () =>
    (reading ??= inTime(read())
      .catch((): Record<string, Sample[]> => ({}))
      .finally(() => (reading = undefined)))
  for (const [name, { help, labels }] of Object.entries(gauges)) {
    const gauge: Gauge = new Gauge({
      name: `tidemark_${name}`,
      help,
      labelNames: labels,
      registers: [registry],
      async collect() {
        const samples = (await share())[name] ?? []
        gauge.reset()
        for (const { labels, value } of samples) gauge.set(labels, value)
      },
    })
  }
}
