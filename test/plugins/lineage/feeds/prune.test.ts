/** Runs that pipelines report are kept for a while, and so many of them: the latest. */
import t from 'tap'
import { keptRuns, pruneRunsJob } from '../../../../plugins/lineage/feeds/prune-job.ts'
import { makeStage } from '../../../helpers/world.ts'

const { app, tenant: a } = await makeStage(t)
const b = await app.signUp('B')

const kept = { ...keptRuns }
t.afterEach(async () => {
  Object.assign(keptRuns, kept)
  await app.query('delete from lineage_runs')
})

/** Adds runs of a job, whose last event was 1, 2, 3 … minutes ago. */
const addRuns = (companyId: string, job: string, count: number) =>
  app.query(
    `insert into lineage_runs (id, company_id, job_namespace, job_name, run_id, state, last_event_at)
     select gen_random_uuid(), $1, 'airflow', $2, gen_random_uuid(), 'completed', now() - n * interval '1 minute'
       from generate_series(1, $3::int) n`,
    [companyId, job, count],
  )

/** Runs by company and job, with the age of the oldest in minutes. */
async function left(): Promise<Record<string, [count: number, oldest: number]>> {
  const found = await app.query(
    `select company_id, job_name, count(*)::int as count,
            round(extract(epoch from now() - min(last_event_at)) / 60)::int as oldest
       from lineage_runs group by 1, 2 order by 1, 2`,
  )
  const nameOf = (id: unknown) => (id === a.companyId ? 'a' : 'b')
  return Object.fromEntries(
    found.map(row => [
      `${nameOf(row.company_id)} ${String(row.job_name)}`,
      [Number(row.count), Number(row.oldest)],
    ]),
  )
}

const prune = async () => {
  const { signal } = new AbortController()
  return pruneRunsJob.work({}, { server: app.server, signal } as Parameters<typeof pruneRunsJob.work>[1])
}

t.test('the latest thousand runs of a job are kept', async t => {
  await addRuns(a.companyId, 'stream', 1_005)
  await addRuns(a.companyId, 'daily', 30)
  await addRuns(b.companyId, 'stream', 1_000)
  t.match(await prune(), { runs: 0, excess_of_jobs: 5, excess_of_companies: 0 })
  t.strictSame(await left(), { 'a stream': [1_000, 1_000], 'a daily': [30, 30], 'b stream': [1_000, 1_000] })
  t.match(await prune(), { runs: 0, excess_of_jobs: 0, excess_of_companies: 0 }, 'once')
})

t.test('a company that invents jobs keeps the latest runs of all, and others keep theirs', async t => {
  keptRuns.ofCompany = 20
  for (let job = 0; job < 10; job++) await addRuns(a.companyId, `job ${job}`, 5)
  await addRuns(b.companyId, 'daily', 20)
  t.match(await prune(), { runs: 0, excess_of_jobs: 0, excess_of_companies: 30 })
  const found = await left()
  t.strictSame(found['b daily'], [20, 20])
  const ofA = Object.entries(found).filter(([name]) => name.startsWith('a '))
  t.equal(
    ofA.reduce((sum, [, [count]]) => sum + count, 0),
    20,
  )
  t.ok(ofA.every(([, [, oldest]]) => oldest <= 2))
})
