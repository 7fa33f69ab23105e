import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { startTestCluster } from '../helpers/cluster.ts'
import type { Tally } from './ledger.ts'
import { startMember, type Member } from './member.ts'
import { dose, type Dose } from './poisoner.ts'
import type { Play } from './stage.ts'

/** Processes that one job may take down. */
const MAX_DEATHS = 3

/**
 * Among good jobs are some that end their process, use up its memory or, in the long form, block it for ever. Each is
 * parked among the dead after three crashes at most, while a supervisor starts what it took down anew; the good ones
 * all complete.
 */
export async function poison({
  isShort,
  folder,
}: Pick<Play, 'isShort' | 'folder'>): Promise<Pick<Tally, 'broken' | 'note'>> {
  const cluster = await startTestCluster({ synchronous_commit: 'on' })
  const url = `postgres://${cluster.user}:${cluster.password}@${cluster.host}:${cluster.port}/postgres`
  const supervisor = supervise(folder, {
    DATABASE_URL: url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    EXTENSIONS: join(import.meta.dirname, 'poisoner.ts'),
    NODE_OPTIONS: '--max-old-space-size=256',
  })
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false, migrate: false })
  boss.on('error', () => undefined)
  const client = new pg.Client({ connectionString: url })
  try {
    await supervisor.add()
    await boss.start()
    await client.connect()
    const hows: Dose['how'][] = isShort ? ['exit'] : ['exit', 'loop', 'memory']
    const good = isShort ? 200 : 1_000
    const doses = Array.from({ length: good }, (): Dose => ({ id: randomUUID(), how: 'good' }))
    hows.forEach((how, index) => doses.splice((index + 1) * 40, 0, { id: how, how }))
    await boss.insert(
      dose.name,
      doses.map(data => ({ data })),
    )
    if (!isShort) await Promise.all([supervisor.add(), supervisor.add()])
    const deadline = Date.now() + (isShort ? 120_000 : 420_000)
    let left = Infinity
    for (; left > 0 && Date.now() < deadline; await wait(500)) {
      const [found] = await ask<{ left: number }>(
        client,
        `select cast(count(*) as int) as left from pgboss.job where name = $1 and state not in ('completed', 'failed')`,
        [dose.name],
      )
      left = found?.left ?? 0
    }
    const ended = await ask<{ completed: number }>(
      client,
      `select cast(count(*) as int) as completed from pgboss.job where name = $1 and state = 'completed'`,
      [dose.name],
    )
    const dead = await ask<{ how: string; reason: string }>(
      client,
      `select data ->> 'how' as how, source_output ->> 'name' as reason from pgboss.job
        where name = 'jobs.dead' and source_name = $1 order by 1`,
      [dose.name],
    )
    // A blocked process takes what else it was at along, and so does each crash.
    const most = MAX_DEATHS * hows.length
    const { lost } = supervisor
    const broken = [
      ...(left > 0 ? [`${left} jobs have not come to their end`] : []),
      ...(ended[0]?.completed === good ? [] : [`${ended[0]?.completed} of ${good} good jobs completed`]),
      ...(dead.map(({ how }) => how).join() === [...hows].sort().join()
        ? []
        : [`Among the dead are ${JSON.stringify(dead)}`]),
      ...(lost() <= most ? [] : [`${lost()} processes were lost, ${most} may be`]),
    ]
    return { broken, note: `${good} good, ${dead.length} parked, ${lost()} processes lost` }
  } finally {
    supervisor.end()
    await boss.stop({ graceful: false }).catch(() => undefined)
    await client.end().catch(() => undefined)
    await cluster.crash()
  }
}

async function ask<Row extends object>(client: pg.Client, text: string, values: unknown[]): Promise<Row[]> {
  return (await client.query<Row>(text, values)).rows
}

/** Starts a process anew whenever one ends. */
function supervise(folder: string, settings: Record<string, string>) {
  const members: Member[] = []
  let isOver = false
  let lost = 0
  async function add(): Promise<void> {
    if (isOver) return
    const member = await startMember(`all-${members.length + 1}`, folder, { ...settings, ROLE: 'all' })
    members.push(member)
    void member.ended.then(() => {
      if (isOver) return
      lost += 1
      return add().catch(() => add())
    })
  }
  return {
    add,
    lost: () => lost,
    end() {
      isOver = true
      members.forEach(member => member.signal('SIGKILL'))
    },
  }
}
