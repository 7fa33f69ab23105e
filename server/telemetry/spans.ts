/** Traces, for operators who bring an OpenTelemetry SDK; without one each of these does next to nothing. */
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Attributes, Context, Span } from '@opentelemetry/api'
import { version } from '../version.ts'

const tracer = trace.getTracer('tidemark', version)
const TRACEPARENT = 'traceparent'

/** How a span begins. */
export interface SpanStart {
  kind: 'server' | 'client' | 'consumer' | 'internal'
  attributes?: Attributes
  /** As `traceparent` gave it; what is active here unless told. */
  parent?: string
}

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
}

/** The trace and span that are active here, as the header `traceparent` of W3C names them; none without an SDK. */
export function traceparent(): string | undefined {
  const carrier: Record<string, string> = {}
  propagation.inject(context.active(), carrier)
  return carrier[TRACEPARENT]
}

/** Runs work inside a span, which ends with it; an error is told by its name only, since messages may hold values. */
export async function inSpan<T>(
  name: string,
  start: SpanStart,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const { span, active } = begin(name, start)
  try {
    return await context.with(active, () => work(span))
  } catch (error) {
    failSpan(span, (error as Error).name)
    throw error
  } finally {
    span.end()
  }
}

/** Runs what only starts work inside a span, which whoever knows the end of it has to end. */
export function startInSpan<T>(name: string, start: SpanStart, work: (span: Span) => T): T {
  const { span, active } = begin(name, start)
  return context.with(active, () => work(span))
}

/** Tells of what is over: a span that lasted for so many milliseconds until now. */
export function tellSpan(
  name: string,
  { attributes, ms, error }: { attributes: Attributes; ms: number; error?: string },
): void {
  const endedAt = Date.now()
  const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes, startTime: endedAt - ms })
  if (error !== undefined) failSpan(span, error)
  span.end(endedAt)
}

/** Marks a span as failed. @param why a word of ours, never a message */
export function failSpan(span: Span, why: string): void {
  span.setAttribute('error.type', why)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

function begin(name: string, { kind, attributes, parent }: SpanStart): { span: Span; active: Context } {
  const around =
    parent === undefined ? context.active() : propagation.extract(ROOT_CONTEXT, { [TRACEPARENT]: parent })
  const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, around)
  return { span, active: trace.setSpan(around, span) }
}
