/** What the server found wrong with one field of a request: the field's path, such as `config.url`. */
export interface FieldError {
  field: string
  message: string
  /** Names that may have been meant, near to an unknown one. */
  candidates?: string[]
}

interface ErrorBody {
  error?: string | { code?: string; message?: string; details?: Record<string, unknown> }
}

/** A reply whose status is not 2xx, or whose JSON cannot be read. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  declare readonly status: number
  /** The server's code, such as `ASSET_NOT_FOUND`; `HTTP_<status>` for a reply that is not the server's own. */
  declare readonly code: string
  /** Fields, suggestions and the like, different for each code. */
  declare readonly details: Record<string, unknown>
  /** What is wrong with which field, for a request that is not valid. */
  declare readonly fields: FieldError[]
  /** Names the request in the server's log. */
  declare readonly requestId: string | null
  /** How long the server asks to wait, in milliseconds. */
  declare readonly retryAfterMs: number | undefined
  /** The body as parsed JSON, or as text. */
  declare readonly body: unknown

  constructor({ status, headers }: Response, body: unknown) {
    const { error } = (body ?? {}) as ErrorBody
    const { code, message, details = {} } = typeof error === 'object' ? error : { message: error }
    const listed = (details.errors ?? []) as { field: string; error: string; candidates?: string[] }[]
    const fields = listed.map(({ error: sentence, ...each }): FieldError => ({ ...each, message: sentence }))
    super(message || `Status ${status}`)
    Object.assign(this, {
      status,
      code: code ?? `HTTP_${status}`,
      details,
      fields,
      requestId: headers.get('x-request-id'),
      retryAfterMs: readRetryAfter(headers),
      body,
    })
  }
}

/** No reply: the connection failed, or broke before the reply was complete. `cause` has the error of `fetch`. */
export class ConnectionError extends Error {
  override readonly name: string = 'ConnectionError'
}

/** No complete reply within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError'
}

/** Returns the milliseconds of `Retry-After`, which has seconds or a date. */
export function readRetryAfter(headers: Headers, now = Date.now()): number | undefined {
  const text = headers.get('retry-after') ?? ''
  const milliseconds = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, milliseconds)
}
