/** `tidemark/client`: a client of the API for Node 20 and browsers, without dependencies. */
export { createClient } from './client.ts'
export { ApiError, ConnectionError, TimeoutError, type FieldError } from './errors.ts'
export type { Retry } from './retry.ts'
export type {
  CallOptions,
  Client,
  ClientOptions,
  ItemOf,
  ListPath,
  OptionsOf,
  Reply,
  ReplyOf,
} from './types.ts'
export {
  verifyWebhook,
  WebhookError,
  type VerifyOptions,
  type WebhookEvent,
  type WebhookHeaders,
} from './webhook.ts'
export type * from './operations.ts'
