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
