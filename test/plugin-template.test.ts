/**
 * The plug-in template's own tests, run from its sources against this host: they are the template's proof, and
 * the conformance of the product's own SQLite engine.
 */
import t from 'tap'
import { resolveHostModules } from '../server/extensions.ts'

resolveHostModules()
await import('../plugin-template/test/conformance.test.ts')
await import('../plugin-template/test/session.test.ts')
await import('../plugin-template/test/catalog.test.ts')
await import('../plugin-template/test/reader.test.ts')
await import('../plugin-template/test/blank-count.test.ts')
await import('../plugin-template/test/ntfy.test.ts')

t.test('the plug-in lists the connector, the check and the destination, and nothing else', async t => {
  const { plugin } = await import('../plugin-template/index.ts')
  const added: string[] = []
  const registry = { add: ({ name }: { name: string }) => added.push(name) }
  plugin.register({ connectors: registry, checks: registry, destinations: registry })
  t.same(added, ['sqlite', 'blank_count', 'ntfy'])
})
