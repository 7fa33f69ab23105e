/** Traces, for operators who add an OpenTelemetry SDK; no-ops without one. */
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Attributes, Context, Span } from '@opentelemetry/api'
import { version } from '../version.ts'

const tracer = trace.getTracer('tidemark', version)
const TRACEPARENT = 'traceparent'

export interface SpanStart {
  kind: 'server' | 'client' | 'consumer' | 'internal'
  attributes?: Attributes
  /** A value of `traceparent()`; defaults to the active span. */
  parent?: string
}

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
}

/** The active trace and span as a W3C `traceparent` header; undefined without an SDK. */
export function traceparent(): string | undefined {
  const carrier: Record<string, string> = {}
  propagation.inject(context.active(), carrier)
  return carrier[TRACEPARENT]
}

/** Runs work inside a span that ends with it. Records the name of an error only, since messages may hold values. */
export async function inSpan<T>(
  name: string,
  start: SpanStart,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const { span, active } = beginSpan(name, start)
  try {
    return await context.with(active, () => work(span))
  } catch (error) {
    failSpan(span, (error as Error).name)
    throw error
  } finally {
    span.end()
  }
}

/** Starts work inside a span that the caller ends. */
export function startInSpan<T>(name: string, start: SpanStart, work: (span: Span) => T): T {
  const { span, active } = beginSpan(name, start)
  return context.with(active, () => work(span))
}

/** Records a span of `ms` milliseconds that ends now. */
export function recordSpan(
  name: string,
  { attributes, ms, error }: { attributes: Attributes; ms: number; error?: string },
): void {
  const endedAt = Date.now()
  const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes, startTime: endedAt - ms })
  if (error !== undefined) failSpan(span, error)
  span.end(endedAt)
}

/** Marks a span as failed. @param why an error name or code, never a message */
export function failSpan(span: Span, why: string): void {
  span.setAttribute('error.type', why)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

function beginSpan(name: string, { kind, attributes, parent }: SpanStart): { span: Span; active: Context } {
  const around =
    parent === undefined ? context.active() : propagation.extract(ROOT_CONTEXT, { [TRACEPARENT]: parent })
  const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, around)
  return { span, active: trace.setSpan(around, span) }
}
