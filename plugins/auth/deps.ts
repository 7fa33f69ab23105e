import type { Server } from '@hapi/hapi'

/** What the functions of this feature use of the server. */
export type AuthDeps = Pick<Server, 'config' | 'db' | 'egress' | 'limits' | 'mail' | 'pino' | 'vault'>
