import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import type { Tally } from './ledger.ts'
import { startMember } from './member.ts'
import { setStage, type Play, type Stage } from './stage.ts'

/** Seconds after the start within which all that was missed is to have begun. */
const CATCH_UP_SECONDS = 60
/** Milliseconds by which the clocks of the servers are wrong. */
const CLOCK_SHIFTS_MS = [-300_000, 0, 300_000]

/**
 * Hourly rules whose servers were away for almost three hours, none of them due again while this plays: three start, whose clocks are wrong by five minutes. Each rule
 * runs once for all that it missed, and no slot is recorded twice.
 */
export async function schedule({
  isShort,
  folder,
}: Pick<Play, 'isShort' | 'folder'>): Promise<Pick<Tally, 'broken' | 'note'>> {
  const stage = await setStage({ folder, destinations: 1, role: 'all' })
  try {
    const rules = await prepare(stage, isShort ? 500 : 5_000)
    stage.members.forEach(member => member.signal('SIGKILL'))
    await stage.query(
      `update checks set running_slot = null, is_active = true,
          next_run_at = date_trunc('second', now()) - interval '170 minutes' + random() * interval '40 minutes'`,
    )
    const bootedAt = Date.now()
    await Promise.all(CLOCK_SHIFTS_MS.map((shift, index) => startShifted(stage, folder, shift, index)))
    let recorded = 0
    const patience = isShort ? 120_000 : 300_000
    while (recorded < rules && Date.now() - bootedAt < patience) {
      await wait(1_000)
      recorded = await count(stage, 'select count(distinct check_id) as count from check_results')
    }
    const [found] = await stage.query<{ twice: number; more: number; early: number; lag: number }>(
      `select (select cast(count(*) as int) from (select from check_results where scheduled_for is not null
                 group by check_id, scheduled_for having count(*) > 1) x) as twice,
              (select cast(count(*) as int) from (select from check_results
                 group by check_id having count(*) > 1) x) as more,
              (select cast(count(*) as int) from checks where next_run_at <= now()) as early,
              (select cast(coalesce(percentile_cont(0.99) within group (
                 order by extract(epoch from started_on) - $1), 0) as float8)
                 from pgboss.job where name = 'scans.run' and started_on > to_timestamp($1)) as lag`,
      [bootedAt / 1_000],
    )
    const { twice, more, early, lag } = found!
    const broken = [
      ...(recorded === rules ? [] : [`${recorded} of ${rules} rules ran`]),
      ...(twice === 0 ? [] : [`${twice} slots were recorded twice`]),
      ...(more === 0 ? [] : [`${more} rules ran more than once`]),
      ...(early === 0 ? [] : [`${early} rules are due again`]),
      ...(lag <= CATCH_UP_SECONDS
        ? []
        : [`One in a hundred began later than ${lag.toFixed(1)} s after the start`]),
    ]
    return { broken, note: `${rules} rules, started within ${lag.toFixed(1)} s (p99) of the start` }
  } finally {
    await stage.end()
  }
}

async function count(stage: Stage, text: string): Promise<number> {
  return Number((await stage.query<{ count: string }>(text))[0]?.count)
}

async function startShifted(stage: Stage, folder: string, shift: number, index: number): Promise<void> {
  stage.members.push(
    await startMember(`shifted-${index}`, folder, {
      ...stage.settings,
      ROLE: 'all',
      CLOCK_SHIFT_MS: String(shift),
      NODE_OPTIONS: `--import ${join(import.meta.dirname, 'shifted-clock.ts')}`,
    }),
  )
}

/** Makes a source of 50 tables and so many rules on them, none of them active. @returns how many rules */
async function prepare(stage: Stage, rules: number): Promise<number> {
  const { host, port, user, password } = stage.cluster
  const database = 'shop'
  await stage.query(`create database ${database}`)
  const shop = new pg.Client({ host, port, user, password, database })
  await shop.connect()
  for (let table = 0; table < 50; table++)
    await shop.query(`create table t${table} as select n as id from generate_series(1, 10) n`)
  await shop.end()
  const config = { host, port, username: user, password, database }
  const { data: asset } = await send<{ id: string }>(stage, '/sdk/assets', {
    ...{ name: 'shop', source_type: 'postgresql', connection_config: config },
  })
  await send(stage, `/sdk/assets/${asset.id}/discover`, {})
  while ((await count(stage, 'select count(*) from tables')) < 50) await wait(200)
  await send(stage, `/sdk/validity/${asset.id}`, {
    ...{ table_path: 't0', column_name: 'id', rule_type: 'NOT_NULL', check_interval: 'hourly' },
    ...{ name: `rule ${randomUUID()}` },
  })
  await stage.query('update checks set is_active = false')
  await wait(3_000)
  await stage.query('delete from check_results')
  await stage.query(
    `insert into checks (uuid, company_id, source_id, table_id, column_name, type, config, name, severity,
       is_active, check_interval, kind, sensitivity, settings)
     select gen_random_uuid(), r.company_id, r.source_id, (select id from tables order by id offset n % 50 limit 1), r.column_name,
            r.type, r.config, 'rule ' || n, r.severity, false, r.check_interval, r.kind, r.sensitivity, r.settings
       from checks r, generate_series(2, $1) n`,
    [rules],
  )
  return rules
}

async function send<Body>(stage: Stage, path: string, payload: object): Promise<{ data: Body }> {
  const url = `${stage.members[0]!.url}/api/v1${path}`
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${stage.key}` },
    body: JSON.stringify(payload),
  })
  if (!response.ok) throw new Error(`POST ${url} gave ${response.status}: ${await response.text()}`)
  return (await response.json()) as { data: Body }
}
