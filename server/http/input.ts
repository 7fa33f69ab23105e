import type { Request } from '@hapi/hapi'
import Joi from 'joi'

/** A body that may also be null, in place of an object without fields. */
export const orNull = <T>(body: Joi.ObjectSchema<T>) => body.allow(null) as Joi.AnySchema<T | null>

export function param(request: Pick<Request, 'params'>, name: string): string {
  return (request.params as Record<string, string>)[name] ?? ''
}

/** Whether the client is a browser that shows a page: its Accept names text/html. */
export function acceptsHtml({ headers }: Pick<Request, 'headers'>): boolean {
  return String(headers.accept ?? '').includes('text/html')
}

/**
 * Whether the client would rather have HTML than Markdown: its Accept names text/html, with a weight above that of
 * text/markdown and not below that of everything else.
 */
export function prefersHtml({ headers }: Pick<Request, 'headers'>): boolean {
  const weights = new Map(
    String(headers.accept ?? '')
      .split(',')
      .map(range => {
        const [type = '', ...parameters] = range.split(';').map(part => part.trim().toLowerCase())
        const weight = parameters.find(part => part.startsWith('q='))?.slice('q='.length)
        return [type, weight === undefined ? 1 : Number(weight)]
      }),
  )
  const page = weights.get('text/html') ?? 0
  return page > (weights.get('text/markdown') ?? 0) && page >= (weights.get('*/*') ?? 0)
}

/** The latest time that a body may name: after it, ISO 8601 needs a sign, which common clients cannot parse. */
export const MAX_DATE = new Date('9999-12-31T23:59:59.999Z')

/** What happened cannot lie further ahead than clocks and time zones differ: it would stay the newest for ever. */
const MAX_AHEAD_MS = 86_400_000

/** Whether the time of something that happened is more than a day in the future. */
export function isTooFarAhead(at: Date): boolean {
  return at.getTime() > Date.now() + MAX_AHEAD_MS
}

/** What is said of such a time, after its field. */
export const TOO_FAR_AHEAD = 'is more than a day in the future: check the clock that it comes from'

/** The id of a row. */
export const uuid = Joi.string().guid({ wrapper: false, separator: '-' }).lowercase()

/** A malformed id gets the same reply as an unknown one. */
const UNKNOWN_ID = '00000000-0000-0000-0000-000000000000'

/** An id in a path. */
export const idParam = uuid.required().failover(UNKNOWN_ID)
export const idParams = Joi.object({ id: idParam })
