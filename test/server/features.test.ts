/** The host works without any feature that no other feature needs. */
import t from 'tap'
import { manifest } from '../../server/manifest.ts'
import { startServer } from '../helpers/server.ts'
import { share } from '../helpers/share.ts'

/** Features to leave out, a path that goes with them, and features that need them. */
const cases = [
  { feature: 'lineage', path: '/api/v1/sdk/lineage', dependents: ['demo', 'impact'] },
  {
    feature: 'profiles',
    path: '/api/v1/sdk/assets/{asset_id}/profile',
    dependents: ['recommendations', 'demo', 'contracts', 'impact'],
  },
  {
    feature: 'recommendations',
    path: '/api/v1/sdk/recommendations/apply',
    dependents: ['demo', 'contracts', 'impact'],
  },
  { feature: 'owners', path: '/api/v1/sdk/owners', dependents: ['demo', 'impact', 'lineage'] },
  { feature: 'impact', path: '/api/v1/sdk/alerts/{id}/impact', dependents: [] },
  { feature: 'badges', path: '/api/v1/sdk/badges', dependents: ['contracts', 'demo', 'impact'] },
  { feature: 'chart-links', path: '/api/v1/sdk/chart-links', dependents: [] },
  { feature: 'contracts', path: '/api/v1/sdk/contracts', dependents: ['demo', 'impact'] },
]

for (const { feature, path, dependents } of share(cases, 'features left out')) {
  t.test(`the server starts without ${feature}`, async t => {
    const left = manifest.plugins.filter(
      plugin => ![feature, ...dependents].includes((plugin as { name: string }).name),
    )
    t.equal(left.length, manifest.plugins.length - 1 - dependents.length)
    const { ask, server } = await startServer(t, { build: { plugins: left } })
    const { status, body } = await ask('GET', '/openapi.json')
    t.equal(status, 200)
    const own = server.table().filter(route => route.path.startsWith(path))
    t.strictSame(own, [])
    t.notMatch(Object.keys(body.paths).join('\n'), path)
    t.match(await ask('GET', '/health'), { status: 200 })
    t.equal((await ask('POST', path, {})).status, 404)
    t.equal((await ask('GET', path)).status, 404)
  })
}

t.test('each left out feature has the path that is looked for', async t => {
  const { server } = await startServer(t)
  for (const { path } of cases)
    t.ok(
      server.table().some(route => route.path.startsWith(path)),
      path,
    )
})
