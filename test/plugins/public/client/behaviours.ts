/** A server that answers as a test wants, for the client. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createClient,
  type Client,
  type ClientOptions,
  type Retry,
} from '../../../../plugins/public/client/index.ts'

/** What a promise rejects with. */
export async function failureOf<E extends Error>(
  kind: new (...given: never[]) => E,
  work: Promise<unknown>,
): Promise<E> {
  const failure = await work.then(
    () => new Error('it did not fail'),
    (error: Error) => error,
  )
  if (failure instanceof kind) return failure
  throw failure
}

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** A server that answers with each behaviour in turn, the last one again and again. */
export async function startBehaviours(
  t: Teardown,
  ...behaviours: ((response: ServerResponse, request: IncomingMessage) => void)[]
): Promise<{ client(options?: ClientOptions): Client; requests: IncomingMessage[]; retries: Retry[] }> {
  const requests: IncomingMessage[] = []
  const retries: Retry[] = []
  const server = createServer((request, response) => {
    const behaviour = behaviours[Math.min(requests.length, behaviours.length - 1)]!
    requests.push(request)
    request.resume().on('end', () => behaviour(response, request))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = (options?: ClientOptions) =>
    createClient({ baseUrl: url, onRetry: retry => void retries.push(retry), ...options })
  return { client, requests, retries }
}

/** Answers with a status, headers and a JSON body. */
export const reply =
  (status: number, headers: Record<string, string> = {}, body: unknown = {}) =>
  (response: ServerResponse) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body))
/** Without a wait, so that a test takes no longer than its requests. */
export const AT_ONCE = { 'retry-after': '0' }
