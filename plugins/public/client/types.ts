import type { Retry } from './retry.ts'
import type { Operations } from './operations.ts'

export interface ClientOptions {
  /** The address of the server, such as `https://tidemark.example.com`; defaults to the origin of the page. */
  baseUrl?: string
  /** An API key or an access token, or a function that returns one, called before each attempt. */
  token?: string | (() => string | undefined | Promise<string | undefined>)
  /** Sent with each request. */
  headers?: Record<string, string>
  /** How often a request is repeated at most; defaults to 2. */
  retries?: number
  /** For one attempt, with its body; defaults to 60 seconds. */
  timeoutMs?: number
  /** The longest `Retry-After` that is waited for; a longer one is thrown at once. Defaults to 60 seconds. */
  maxRetryAfterMs?: number
  /** Aborts all requests of the client. */
  signal?: AbortSignal
  /** Defaults to the global `fetch`. */
  fetch?: typeof globalThis.fetch
  /** Called before each wait for a retry, such as to log it. */
  onRetry?(retry: Retry): void
}

/** What each call may set for itself. */
export interface CallOptions extends Pick<ClientOptions, 'headers' | 'retries' | 'timeoutMs' | 'signal'> {
  /** Makes a POST repeatable; defaults to a random one where the server honours it. */
  idempotencyKey?: string
}

export type Method = keyof Operations

export type Path<M extends Method> = keyof Operations[M] & string

interface Operation {
  options: object
  reply: unknown
}

type OperationOf<M extends Method, P extends Path<M>> = Extract<Operations[M][P], Operation>

/** Path parameters, query and body of an operation. */
export type OptionsOf<M extends Method, P extends Path<M>> = OperationOf<M, P>['options'] &
  Omit<CallOptions, 'idempotencyKey'>

/** What an operation replies. */
export type ReplyOf<M extends Method, P extends Path<M>> = OperationOf<M, P>['reply']

/** The options may be left out if none is required. */
type Arguments<M extends Method, P extends Path<M>> =
  object extends OptionsOf<M, P> ? [options?: OptionsOf<M, P>] : [options: OptionsOf<M, P>]

type Call<M extends Method> = <P extends Path<M>>(
  path: P,
  ...options: Arguments<M, P>
) => Promise<ReplyOf<M, P>>

interface Page {
  has_more: boolean
}

/** A page of a list, in any of the forms that the server replies with. */
export type PageReply = { pagination: Page } | { data: { pagination: Page } | Page }

/** The paths whose replies are pages of a list. */
export type ListPath = {
  [P in Path<'get'>]: [Extract<ReplyOf<'get', P>, PageReply>] extends [never] ? never : P
}[Path<'get'>]

/** The list is `data`, or a field of it; where there are several, the field `data`. */
type ItemIn<Reply> = Reply extends { data: infer Data }
  ? ElementOf<
      Data extends object[] ? Data : Data extends { data: object[] } ? Data['data'] : Data[keyof Data]
    >
  : never
type ElementOf<Value> = Value extends (infer Item)[] ? Item : never

/** A record of a list. */
export type ItemOf<P extends ListPath> = ItemIn<Extract<ReplyOf<'get', P>, PageReply>>

/** A reply with its status and headers. */
export interface Reply<Body> {
  status: number
  headers: Headers
  body: Body
}

/**
 * Calls the server. All methods throw `ApiError` for a status that is not 2xx, `ConnectionError` without a reply,
 * `TimeoutError` after `timeoutMs`, and the reason of the signal once it aborts.
 */
export interface Client {
  get: Call<'get'>
  post: Call<'post'>
  put: Call<'put'>
  patch: Call<'patch'>
  delete: Call<'delete'>
  /** As the methods above, with the status and the headers of the reply. */
  request<M extends Method, P extends Path<M>>(
    method: M,
    path: P,
    ...options: Arguments<M, P>
  ): Promise<Reply<ReplyOf<M, P>>>
  /** Reads a list page by page and gives its records one by one. `limit` is the size of a page. */
  iterate<P extends ListPath>(path: P, ...options: Arguments<'get', P>): AsyncGenerator<ItemOf<P>, void>
}
