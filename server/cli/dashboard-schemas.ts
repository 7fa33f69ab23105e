/**
 * Loaded by the process of the dashboard, before it. Its newest release carries a job engine that refuses to load a
 * job where the schema's number differs from its own by any amount. The schemas named here differ by columns that have
 * defaults and by what creates queues, neither of which a page of a job or its buttons touch; a test opens such pages.
 */
import { registerHooks } from 'node:module'
import { DASHBOARD, openedSchemas } from './dashboard-pair.ts'

const CHECK = 'schemaVersion !== await this.schemaVersion()'

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.endsWith(`/${DASHBOARD}/build/server/index.js`) || loaded.source == null) return loaded
    const source =
      typeof loaded.source === 'string' ? loaded.source : Buffer.from(loaded.source as Uint8Array).toString()
    const replaced = source.replace(
      CHECK,
      `!${JSON.stringify(openedSchemas)}.includes(await this.schemaVersion())`,
    )
    return { ...loaded, source: replaced }
  },
})
