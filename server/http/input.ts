import type { Request } from '@hapi/hapi'

/** The validated query of a request; its schema vouches for the type. */
export function queryOf<T>(request: Request): T {
  return request.query as unknown as T
}

/** The validated body of a request. */
export function bodyOf<T>(request: Request): T {
  return request.payload as unknown as T
}

/** A validated path parameter. */
export function param(request: Request, name: string): string {
  return (request.params as Record<string, string>)[name] ?? ''
}

/** Whether the client is a browser that shows a page: its Accept names text/html. */
export function acceptsHtml({ headers }: Request): boolean {
  return String(headers.accept ?? '').includes('text/html')
}

/** The latest time that a body may name: after it, ISO 8601 needs a sign, which common clients cannot parse. */
export const MAX_DATE = new Date('9999-12-31T23:59:59.999Z')
