/** Counters and timings of a process's own work, for Prometheus. Labels never hold names or values of a customer. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { StatementUsage } from '../../connectors/connector.ts'
import { withHealthTimeout } from './health.ts'
import { recordSpan } from './spans.ts'
import { version } from '../version.ts'

export interface Telemetry {
  /** A request. @param route its path as a template, or `none` */
  request(method: string, route: string, status: number, ms: number): void
  job(queue: string, result: 'completed' | 'failed' | 'gave_up' | 'put_off', ms: number): void
  scan(engine: string, result: 'measured' | 'unreachable'): void
  /** A statement at a source. @param engine the connector's name @param purpose such as `scan` */
  statement(engine: string, purpose: string, taken: StatementUsage): void
  /** Adds a counter `tidemark_<name>_total` of a feature, and a histogram `tidemark_<name>_seconds`. */
  addCounter(name: string, help: string, labels: string[]): (labels: Record<string, string>) => void
  addDuration(
    name: string,
    help: string,
    labels: string[],
  ): (labels: Record<string, string>, ms: number) => void
  /** A verdict. @param subject `rule`, `metric` …  @param type of the rule or metric */
  verdict(subject: string, type: string, verdict: string): void
  /** Adds gauges that are read at each scrape. */
  addReader(reader: Reader): void
  /** Starts measuring the process: memory, event loop, garbage collector. */
  watchProcess(): void
  /** Renders everything in the text format of Prometheus. */
  expose(): Promise<{ text: string; contentType: string }>
}

export interface Sample {
  labels: Record<string, string>
  value: number
}

/** Gauges that share one reading. */
export interface Reader {
  /** By the gauge's name without `tidemark_`. */
  gauges: Record<string, { help: string; labels: string[] }>
  /** Samples by the gauge's name. When it rejects, or takes 4.5 s, the gauges have those of `unread` this time. */
  read(): Promise<Record<string, Sample[]>>
  /** Defaults to none. */
  unread?: Record<string, Sample[]>
}

const DURATION_BUCKETS_SECONDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60]

/** Creates the metrics of one server, separate from those of another server in the same process. */
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
      recordSpan(`${purpose} ${engine}`, {
        attributes: {
          'db.system.name': engine,
          'db.operation.name': purpose,
          'db.response.returned_rows': rows,
        },
        ms: durationMs,
        ...(error && { error: error.kind }),
      })
    },
    addCounter(name, help, labelNames) {
      const added = counter(registry, name, help, labelNames)
      return labels => added.inc(labels)
    },
    addDuration(name, help, labelNames) {
      const added = duration(registry, name, help, labelNames)
      return (labels, ms) => added.observe(labels, ms / 1_000)
    },
    verdict: (subject, type, verdict) =>
      metrics.verdicts.inc({ subject, type, verdict: verdict.toLowerCase() }),
    addReader: reader => addReader(registry, reader),
    watchProcess: () => collectDefaultMetrics({ register: registry }),
    expose: async () => ({ text: await registry.metrics(), contentType: registry.contentType }),
  }
}

function counter(registry: Registry, name: string, help: string, labelNames: string[]): Counter {
  return new Counter({ name: `tidemark_${name}_total`, help, labelNames, registers: [registry] })
}

function duration(registry: Registry, name: string, help: string, labelNames: string[]): Histogram {
  const names = { name: `tidemark_${name}_seconds`, help, labelNames }
  return new Histogram({ ...names, buckets: DURATION_BUCKETS_SECONDS, registers: [registry] })
}

function makeMetrics(registry: Registry) {
  return {
    build: new Gauge({
      name: 'tidemark_build_info',
      help: 'The running program and its role',
      labelNames: ['version', 'role', 'node'],
      registers: [registry],
    }),
    requests: counter(registry, 'http_requests', 'Requests answered', ['method', 'route', 'status']),
    requestSeconds: duration(registry, 'http_request_duration', 'Duration of requests', ['method', 'route']),
    jobs: counter(registry, 'jobs_worked', 'Job attempts by this process', ['queue', 'result']),
    jobSeconds: duration(registry, 'job_duration', 'Duration of job attempts', ['queue']),
    scans: counter(registry, 'scans', 'Tables scanned', ['engine', 'result']),
    statements: counter(registry, 'source_statements', 'Statements sent to sources', [
      ...['engine', 'purpose', 'result'],
    ]),
    statementSeconds: duration(registry, 'source_statement_duration', 'Duration of statements at sources', [
      ...['engine', 'purpose'],
    ]),
    rows: counter(registry, 'source_rows', 'Rows received from sources', ['engine']),
    bytes: counter(registry, 'source_bytes', 'Bytes received from sources, where known', ['engine']),
    verdicts: counter(registry, 'verdicts', 'Verdicts of checks', ['subject', 'type', 'verdict']),
  }
}

/**
 * All gauges of a reader share one reading, since they are collected at the same time. A slow reading counts as
 * failed: the metrics of a process are needed most when its database hangs.
 */
function addReader(registry: Registry, { gauges, read, unread = {} }: Reader): void {
  let reading: Promise<Record<string, Sample[]>> | undefined
  const share = () =>
    (reading ??= withHealthTimeout(read())
      .catch(() => unread)
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
