/** Reads what a route needs while its caller is looked up, so that a request waits for the database once. */
import { isDeepStrictEqual } from 'node:util'
import type { Request } from '@hapi/hapi'
import type { Found, Readings } from '../database/database.ts'
import { caller, type AnyRequest } from './access.ts'
import { validateAhead } from './prepared-validation.ts'

/** The validated path and query of a request. */
export interface ReadInput {
  params: Record<string, string>
  query: unknown
}

/** Statements that were sent before the caller was known, and what came of them. */
export interface ReadAhead {
  readings: Readings<object[]>
  result: PromiseSettledResult<object[][]>
}

declare module '@hapi/hapi' {
  interface RouteOptionsApp {
    /**
     * The statements that the handler gives to `readForCaller`, for a GET: a caller whose company is known from an earlier
     * request is then looked up and read for in one round trip. Undefined where path and query do not determine them.
     */
    readings?(input: ReadInput, companyId: string): Readings<object[]> | undefined
  }
  interface PluginsStates {
    readAhead?: ReadAhead
  }
}

/** The statements that can be sent before the caller is known; undefined for other routes, and for bad input. */
export function readingsAhead(request: Request, companyId: string): Readings<object[]> | undefined {
  const { app, validate } = request.route.settings
  if (!app?.readings) return undefined
  // What is bad is refused by hapi, after authentication.
  const params = validateAhead(validate?.params, request.params)
  const query = validateAhead(validate?.query, request.query)
  return params && query && app.readings({ params: params as ReadInput['params'], query }, companyId)
}

/** Runs statements that read the caller's company; takes what was read ahead when it was by the same statements. */
export async function readForCaller<T extends object[]>(
  request: AnyRequest,
  readings: Readings<T>,
): Promise<Found<T>> {
  const { readAhead } = request.plugins
  if (!readAhead || !isDeepStrictEqual(readAhead.readings, readings))
    return request.server.db.read(caller(request).companyId, readings)
  if (readAhead.result.status === 'rejected') throw readAhead.result.reason
  return readAhead.result.value as Found<T>
}
