/** States a feature in one place: what it needs, offers, serves and works on. */
import type { Plugin, Server, ServerRoute } from '@hapi/hapi'
import type { Retention } from './database/retention.ts'
import type { Job } from './jobs/jobs.ts'
import type { ApiTag } from './openapi/tags.ts'

/** What `make` gives. */
interface Parts<Api> {
  api?: Api
  jobs?: Job[]
  routes?: ServerRoute[]
}

/** A value, or a function that makes it from the feature's API. */
type FromApi<Value, Api> = Value | ((api: Api, server: Server) => Value)

export interface Feature<Api extends object> {
  /** Its name in `server.plugins`. */
  name: string
  /** The features that it uses. */
  needs?: string[]
  /** Its sections of the API's description. */
  tags?: Record<string, ApiTag>
  /** Makes what other features may ask of it, as `server.plugins.<name>`; those that it needs are there. */
  api?(server: Server): Api
  /** Adds whatever else it gives to the server, such as alert kinds, encrypted columns and hooks, before its routes. */
  setUp?(server: Server, api: Api): void | Promise<void>
  /** In place of `api`, `setUp`, `jobs` and `routes`, where these share what they are made of. */
  make?(server: Server): Parts<Api>
  /** How long rows of its tables are kept. */
  retention?: Retention[]
  jobs?: FromApi<Job[], Api>
  routes?: FromApi<ServerRoute[], Api>
}

/** @returns the plugin of a feature, for the manifest */
export function feature<Api extends object = object>(given: Feature<Api>): Plugin<undefined> {
  const { name, needs = [], tags = {}, retention = [], jobs = [], routes = [] } = given
  return {
    name,
    dependencies: needs,
    async register(server) {
      Object.assign(server.apiParts.tags, tags)
      const made: Parts<Api> = given.make?.(server) ?? { api: given.api?.(server) }
      const api = made.api ?? ({} as Api)
      // By reference: a whole object would be copied deeply, with the registries in it.
      for (const [key, value] of Object.entries(api)) server.expose(key, value)
      await given.setUp?.(server, api)
      server.retention.push(...retention)
      server.jobs.add(...(made.jobs ?? []), ...(typeof jobs === 'function' ? jobs(api, server) : jobs))
      server.route(made.routes ?? (typeof routes === 'function' ? routes(api, server) : routes))
    },
  }
}
