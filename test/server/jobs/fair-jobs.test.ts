/** No company takes all slots of a kind of job, whatever it asks for. */
import t from 'tap'
import { isShared } from '../../../server/jobs/job.ts'
import { startServer } from '../../helpers/server.ts'

const { server } = await startServer(t)

/** Jobs of a company that do not share their slots by company, and what keeps one from taking all. */
const OTHERWISE: Record<string, string> = {
  'contracts.enforce': 'it compares what is stored, and reads no source',
  'incidents.update': 'one of a company runs at once',
}

t.test('each kind of job of a company shares its slots, or stands here with its reason', async t => {
  const ofCompanies = server.jobs.all().filter(({ data }) => 'company_id' in (data.describe().keys ?? {}))
  t.ok(ofCompanies.length > 8)
  const others = ofCompanies.filter(job => !isShared(job)).map(({ name }) => name)
  t.strictSame(others.sort(), Object.keys(OTHERWISE).sort())
})

t.test('two companies that hold their share leave slots to a third', async t => {
  for (const { name, concurrency } of server.jobs.all().filter(isShared)) {
    t.ok(
      concurrency.local >= 4,
      `${name} has four slots: two for the first company, one each for the next two`,
    )
    const { local, perGroup } = concurrency
    const most = typeof perGroup === 'number' ? perGroup : Math.max(...Object.values(perGroup.tiers))
    t.ok(most < local, `${name} leaves slots beside one group`)
  }
})
