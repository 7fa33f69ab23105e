import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import knexModule from 'knex'
import { migrate, type Migration } from '../../server/database/database.ts'
import { manifest } from '../../server/manifest.ts'
import { startCallers } from './callers.ts'
import { tally, type Tally } from './ledger.ts'
import { setStage, type Play, type Stage } from './stage.ts'

/** What the next version of the program might change: strong locks on busy tables. */
const NEXT: Migration = {
  name: '9999_next',
  async up(knex) {
    await knex.raw(`alter table alerts add column chaos_note text not null default ''`)
    await knex.raw(`alter table destinations add column chaos_note text`)
    await knex.raw(`create index alerts_chaos on alerts (company_id, chaos_note)`)
  },
  async down(knex) {
    await knex.raw('alter table destinations drop column chaos_note')
    await knex.raw('alter table alerts drop column chaos_note')
  },
}
/** Seconds for which a reader holds a table, so that the migration has to wait. */
const READ_SECONDS = 5
/** Milliseconds that a call may take while a migration waits: it gives way after half a second, and the machine is busy. */
const MAX_CALL_MS = 8_000

/**
 * The schema is changed beneath servers that work, forwards and back again, during a long read: no request
 * has to wait for long, nothing is lost, and nothing ends in a deadlock.
 */
export async function schema({ isShort, folder }: Play): Promise<Tally> {
  const stage = await setStage({ folder, destinations: 4, role: 'all' })
  try {
    await stage.start('worker')
    stage.receiver.behave({ statuses: [500, 200], percent: 5, delay: 40 })
    await stage.plan({ alerts: 1_000_000, batch: 2, pause: 300 })
    const path = '/api/v1/sdk/alerts/destinations'
    const callers = startCallers(stage.members[0]!.url, [{ method: 'GET', path, credential: stage.key }], {
      callers: 6,
      pause: 100,
    })
    const times = isShort ? 2 : 10
    for (let time = 0; time < times; time++) {
      await Promise.all([readForLong(stage), wait(500).then(() => forwards(stage))])
      await wait(500)
      await back(stage)
    }
    const { calls, failures, longest } = await callers.end()
    await stage.plan({ alerts: 0 })
    const isSettled = await stage.settled(120)
    const result = await tally(stage, { most: 0, isSettled, isShort })
    const [{ deadlocks }] = (await stage.query(
      'select cast(deadlocks as integer) as deadlocks from pg_stat_database where datname = current_database()',
    )) as [{ deadlocks: number }]
    const broken = [
      ...Object.entries(failures).map(([what, count]) => `${count} calls came to ${what}`),
      ...(longest > MAX_CALL_MS ? [`A call took ${(longest / 1_000).toFixed(1)} s`] : []),
      ...(deadlocks > 0 ? [`There were ${deadlocks} deadlocks`] : []),
    ]
    return {
      ...result,
      note: `${times} times there and back, ${calls} calls, the longest ${(longest / 1_000).toFixed(1)} s`,
      broken: [...broken, ...result.broken],
    }
  } finally {
    await stage.end()
  }
}

/** As a report or a backup does. */
async function readForLong({ url }: Stage): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('begin')
    await client.query('select count(*) from alerts')
    await client.query('select pg_sleep($1)', [READ_SECONDS])
  } finally {
    await client.end()
  }
}

/** Two processes of the next version start at once. */
async function forwards({ url, appUrl }: Stage): Promise<void> {
  const one = () =>
    migrate({
      ownerUrl: url,
      appUrl,
      appPassword: async () => '',
      migrations: [...manifest.migrations, NEXT],
      prepareJobs: async () => undefined,
      log: pino({ level: 'silent' }),
    })
  await Promise.all([one(), one()])
}

async function back({ url }: Stage): Promise<void> {
  const knex = knexModule({ client: 'pg', connection: url, pool: { min: 0, max: 1 } })
  try {
    for (;;) {
      try {
        await knex.transaction(async trx => {
          await trx.raw('set local lock_timeout = 500')
          await NEXT.down(trx)
          await trx('tidemark_migrations').where({ name: NEXT.name }).delete()
        })
        return
      } catch (error) {
        if (!['55P03', '40P01'].includes((error as { code?: string }).code ?? '')) throw error
        await wait(500)
      }
    }
  } finally {
    await knex.destroy()
  }
}
