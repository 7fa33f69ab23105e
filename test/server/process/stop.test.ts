/** How a server ends: what is under way comes to its end, and nothing new begins. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { slow, work } from '../../helpers/extensions/slow-work.ts'
import { startServer } from '../../helpers/server.ts'

const EXTENSIONS = new URL('../../helpers/extensions/slow-work.ts', import.meta.url).href

interface Answer {
  status: number | undefined
  body: string
  connection: string | undefined
}

function get(port: number, path: string, agent?: http.Agent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    http
      .get({ host: '127.0.0.1', port, path, agent }, response => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('end', () =>
          resolve({
            status: response.statusCode,
            body: Buffer.concat(chunks).toString(),
            connection: response.headers.connection,
          }),
        )
      })
      .once('error', reject)
  })
}

const keepAlive = () => new http.Agent({ keepAlive: true, maxSockets: 1 })

t.test(
  'requests in flight are answered, kept connections too, and no new connection is accepted',
  async t => {
    const { server } = await startServer(t, { settings: { EXTENSIONS }, isOwn: true })
    const { port } = server.listener.address() as AddressInfo
    const [kept, idle] = [keepAlive(), keepAlive()]
    t.teardown(() => [kept, idle].forEach(agent => agent.destroy()))
    for (const agent of [kept, idle]) t.match(await get(port, '/health', agent), { status: 200 })
    const asked = once(work, 'asked')
    const answer = get(port, '/slow')
    await asked

    const ended = server.drain.begin(false)
    await t.rejects(get(port, '/health'), { code: 'ECONNREFUSED' })
    const last = await get(port, '/health', kept)
    t.match([last.status, last.connection], [503, 'close'])
    t.match(JSON.parse(last.body), { success: false, error: 'UNAVAILABLE', data: { status: 'draining' } })
    work.dispatchEvent(new Event('answer'))
    t.strictSame(await answer, { status: 200, body: 'done', connection: 'close' })
    t.match(await get(port, '/', idle), { connection: 'close' }, 'an idle one may still ask once')
    await ended
  },
)

t.test('where nothing is under way nothing is waited for, and who is in a hurry drops idle ones', async t => {
  const { server } = await startServer(t, { settings: { ROLE: 'web' } })
  const { port } = server.listener.address() as AddressInfo
  const agent = keepAlive()
  t.teardown(() => agent.destroy())
  await get(port, '/health', agent)
  const turns = countTurns()
  await server.drain.begin(true)
  t.ok(turns() < 20, 'an idle connection would be kept for hundreds of turns')
})

/** Turns of 20 ms since, as the end of a server counts them. */
function countTurns(): () => number {
  let turns = 0
  const timer = setInterval(() => (turns += 1), 20)
  return () => {
    clearInterval(timer)
    return turns
  }
}

t.test('jobs that run are finished or handed back, and no other is taken up', async t => {
  const { server, query } = await startServer(t, { settings: { EXTENSIONS }, isOwn: true })
  const begin = async (listens: boolean) => {
    const id = randomUUID()
    const begun = once(work, `begun ${id}`)
    await server.jobs.send(slow, { id, listens })
    await begun
    return id
  }
  const [finished, handedBack] = [await begin(false), await begin(true)]
  const waiting = randomUUID()
  await server.jobs.send(slow, { id: waiting, listens: true })

  const drained = server.jobs.drain({ finishMs: 300, letGoMs: 10_000 })
  work.dispatchEvent(new Event(finished))
  await drained
  const states = await query(
    `select data ->> 'id' as id, state::text, retry_limit, retry_count from pgboss.job where name = $1`,
    [slow.name],
  )
  const of = (wanted: string) => states.find(({ id }) => id === wanted)
  t.match(of(finished), { state: 'completed', retry_limit: 0 })
  t.match(of(handedBack), { state: 'retry', retry_limit: 1 }, 'it gets another try for the one it lost')
  t.match(of(waiting), { state: 'created' })
})

t.test('a job that does not let go is handed back by the engine', async t => {
  const { server, query } = await startServer(t, { settings: { EXTENSIONS }, isOwn: true })
  const id = randomUUID()
  const begun = once(work, `begun ${id}`)
  await server.jobs.send(slow, { id, listens: false })
  await begun
  await server.jobs.drain({ finishMs: 50, letGoMs: 50 })
  await server.stop({ timeout: 50 })
  t.match(await query(`select state::text, retry_limit from pgboss.job where name = $1`, [slow.name]), [
    { state: 'retry', retry_limit: 1 },
  ])
  work.dispatchEvent(new Event(id))
})
