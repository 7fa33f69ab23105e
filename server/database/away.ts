/**
 * Error codes of a database that is unavailable for now: of the network, of PostgreSQL starting, stopping, full or
 * read-only, and of a statement that lost a conflict with another.
 */
const UNAVAILABLE_ERROR =
  /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE|57P0[123]|53.{3}|25006|58030|08.{3}|40P01)$/

/** Whether the product's own database is unavailable for now, so that the same request may succeed later. */
export function isAway(error: unknown): boolean {
  const { code, message, nativeError } = error as {
    code?: string
    message: string
    nativeError?: { code?: string }
  }
  return (
    UNAVAILABLE_ERROR.test(nativeError?.code ?? code ?? '') ||
    /timeout (exceeded )?(acquiring|when trying to connect)|connection (terminated|ended)|read timeout|^timeout expired$|not currently accepting connections/i.test(
      message,
    )
  )
}
