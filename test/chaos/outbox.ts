/**
 * Cuts the database connection of the application before, in the middle of and after each statement of what raises,
 * resolves and delivers alerts, and looks every time whether alerts, messages and jobs still agree:
 * `node test/chaos/outbox.ts [crashes]`, defaults to 1,000. For the database it is the same as a killed process.
 */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { pino } from 'pino'
import { deliverJob, retryJob, type AttemptData } from '../../plugins/alerts/delivery/job-kinds.ts'
import { startReceiver, type Receiver } from '../helpers/receiver.ts'
import { jobContext, workOf } from '../helpers/job-context.ts'
import { startServer, type TestServer } from '../helpers/server.ts'
import { ALERTS, makeWorld, type World } from '../plugins/alerts/world.ts'

/** Whether the statement never arrives, is cut off when it is under way, or is done and its result is lost. */
const MOMENTS = ['before', 'amid', 'after'] as const
type Moment = (typeof MOMENTS)[number]

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** What came of all the crashes. */
export interface Endured {
  crashes: number
  alerts: number
  deliveries: number
  jobs: number
  /** What did not agree, each with the crash that led to it. */
  broken: string[]
}

interface Scene {
  app: TestServer
  world: World
  receiver: Receiver
  line: ConnectionCutter
}

/** Something that writes to the database in one go. */
interface Act {
  name: string
  /** Made ready first, without a crash; the act itself is what it gives back. */
  prepare(scene: Scene): Promise<() => Promise<unknown>>
}

const fresh = () => `rule:${randomUUID()}`

const ACTS: readonly Act[] = [
  {
    name: 'raise one',
    prepare:
      async ({ world }) =>
      () =>
        world.raise({ cause: fresh() }),
  },
  {
    name: 'raise three',
    prepare:
      async ({ world }) =>
      () =>
        world.raiseAll([{ cause: fresh() }, { cause: fresh() }, { cause: fresh() }]),
  },
  {
    name: 'raise what is open',
    async prepare({ world }) {
      const cause = fresh()
      await world.raise({ cause })
      return () => world.raise({ cause })
    },
  },
  {
    name: 'raise what got worse',
    async prepare({ world }) {
      const cause = fresh()
      await world.raise({ cause })
      return () => world.raise({ cause, severity: 'critical' })
    },
  },
  {
    name: 'resolve two',
    async prepare({ world }) {
      const causes = [fresh(), fresh()]
      await world.raiseAll(causes.map(cause => ({ cause })))
      return () => world.recoverAll(causes)
    },
  },
  {
    name: 'dismiss one',
    async prepare({ world }) {
      const { alertId } = await world.raise({ cause: fresh() })
      return () => world.ask('POST', `${ALERTS}/${alertId}/dismiss`, { reason: 'known' })
    },
  },
  { name: 'deliver', prepare: scene => prepareAttempt(scene, 200) },
  { name: 'fail to deliver', prepare: scene => prepareAttempt(scene, 500) },
  { name: 'redeliver', prepare: prepareRedelivery },
]

/** The next attempt of a delivery, made as its worker makes it; and made again, as after a crash, until it is on record. */
async function prepareAttempt({ app, world, receiver }: Scene, status: number) {
  const { alertId } = await world.raise({ cause: fresh() })
  receiver.answer(status)
  const [delivery] = await app.query(
    'select id, job_id from deliveries where alert_id = $1 order by id limit 1',
    [alertId],
  )
  const data = { company_id: world.companyId, delivery_id: String(delivery?.id), n: 1 }
  return () => work(app, data, String(delivery?.job_id))
}

async function prepareRedelivery(scene: Scene) {
  const { app, world } = scene
  await (
    await prepareAttempt(scene, 200)
  )()
  const [delivery] = await app.query(
    `select id from deliveries where status = 'delivered' order by id desc limit 1`,
  )
  return () => world.ask('POST', `${ALERTS}/deliveries/${String(delivery?.id)}/redeliver`)
}

async function work({ server }: TestServer, data: AttemptData, id: string) {
  const context = jobContext(server, { log: pino({ level: 'silent' }), id })
  await workOf(server, data.n === 1 ? deliverJob : retryJob)(data, context)
}

/** Cuts connections of the application's role, from outside of the product. */
interface ConnectionCutter {
  /** Cuts at the `n`th statement from now, from 0. @returns whether it came to that */
  cut(n: number, moment: Moment, act: () => Promise<unknown>): Promise<boolean>
}

type Client = pg.Client & {
  connectionParameters: { application_name?: string }
  connection: { stream: { destroy(): void } }
}

/** To be made before the server opens its connections. */
function makeCutter(t: Teardown): ConnectionCutter {
  const { query } = pg.Client.prototype
  let plan: { left: number; moment: Moment } | undefined
  function strikes(client: Client): Moment | undefined {
    if (!plan || client.connectionParameters.application_name !== 'tidemark' || plan.left-- > 0)
      return undefined
    const { moment } = plan
    plan = undefined
    return moment
  }
  pg.Client.prototype.query = function (this: Client, ...input: unknown[]): unknown {
    const moment = strikes(this)
    const cut = () => this.connection.stream.destroy()
    const callback = input.at(-1)
    if (moment === 'before') cut()
    if (moment === 'amid') setImmediate(cut)
    if (moment === 'after' && typeof callback === 'function') {
      input[input.length - 1] = () => {
        cut()
        callback(new Error('Connection terminated unexpectedly'))
      }
    }
    return query.apply(this, input as never)
  } as never
  t.teardown(() => (pg.Client.prototype.query = query))
  return {
    async cut(n, moment, act) {
      plan = { left: n, moment }
      // Only the state of the database matters, not the error of the crash.
      await act().catch(() => undefined)
      const struck = plan === undefined
      plan = undefined
      return struck
    },
  }
}

/** What must be true whenever nothing is under way, as queries that find what is not so. */
const AGREEMENTS: Record<string, string> = {
  'an alert without a message to any destination': `
    select a.id from alerts a where (select count(*) from deliveries d
      where d.alert_id = a.id and d.event_type = 'alert.triggered') <> (select count(*) from destinations)`,
  'an alert without its first move': `
    select a.id from alerts a where (select count(*) from alert_history m
      where m.alert_id = a.id and m.from_status is null) <> 1`,
  'an alert that is not where its last move led': `
    select a.id from alerts a where status <>
      (select to_status from alert_history m where m.alert_id = a.id order by at desc, id desc limit 1)`,
  // A message may wait for an earlier one of its alert.
  'a pending message without a job': `
    select d.id from deliveries d where status = 'pending' and not exists (
        select 1 from pgboss.job j where j.id = d.job_id and j.state = 'created'
          and j.data->>'delivery_id' = d.id::text and (j.data->>'n')::int in (d.attempt, d.attempt + 1))
      and not exists (select 1 from deliveries e where e.alert_id = d.alert_id
        and e.destination_id = d.destination_id and e.status = 'pending' and e.id < d.id)`,
  'a job of a message that is not there': `
    select j.id from pgboss.job j where j.name in ('alerts.deliver', 'alerts.retry')
      and not exists (select 1 from deliveries d where d.id::text = j.data->>'delivery_id')`,
  'two jobs of one attempt': `
    select data from pgboss.job where name in ('alerts.deliver', 'alerts.retry') group by data having count(*) > 1`,
  'an attempt that is counted and not recorded': `
    select d.id from deliveries d
     where d.attempt <> (select count(*) from delivery_attempts x where x.delivery_id = d.id)`,
  'a failed attempt with no other planned': `
    select d.id from deliveries d join delivery_attempts x on x.delivery_id = d.id and x.n = d.attempt
     where x.error_class is not null and d.trigger = 'automatic' and d.attempt < 5 and d.status <> 'pending'`,
}

const DISAGREEMENTS = Object.entries(AGREEMENTS)
  .map(([what, statement]) => `select '${what}' as what, count(*)::int as times from (${statement}) as found`)
  .join(' union all ')

async function disagreements({ query }: TestServer): Promise<string[]> {
  const found = await query(`select * from (${DISAGREEMENTS}) as all_found where times > 0`)
  return found.map(({ what, times }) => `${String(what)} (${String(times)})`)
}

/**
 * Goes through every act, cutting at each of its statements in turn, over and over until there were so many crashes;
 * all acts and statements have been gone through once at least. Before a statement is after the one before it, so that
 * one of the two moments alone leaves none out but the edges.
 */
export async function endure(
  t: Teardown,
  leastCrashes = 1,
  moments: readonly Moment[] = MOMENTS,
): Promise<Endured> {
  const line = makeCutter(t)
  const app = await startServer(t, { settings: { ROLE: 'web' }, isOwn: true })
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  for (const name of ['one', 'other']) await world.addDestination({ url: receiver.url }, { name })
  const scene = { app, world, receiver, line }
  const endured = { crashes: 0, broken: [] as string[] }
  while (endured.crashes < leastCrashes && endured.broken.length === 0)
    for (const act of ACTS) for (const moment of moments) await crashEach(scene, act, moment, endured)
  const [counts] = await app.query(
    `select (select count(*) from alerts)::int as alerts, (select count(*) from deliveries)::int as deliveries,
       (select count(*) from pgboss.job where name in ('alerts.deliver', 'alerts.retry'))::int as jobs`,
  )
  return { ...endured, ...(counts as unknown as Pick<Endured, 'alerts' | 'deliveries' | 'jobs'>) }
}

/** Cuts an act at its first statement, then at its second, until it gets through; then it must have its effect. */
async function crashEach(
  scene: Scene,
  act: Act,
  moment: Moment,
  endured: Pick<Endured, 'crashes' | 'broken'>,
): Promise<void> {
  for (let n = 0; ; n += 1) {
    const again = await act.prepare(scene)
    const struck = await scene.line.cut(n, moment, again)
    for (const what of await disagreements(scene.app))
      endured.broken.push(`${act.name}, ${moment} statement ${n + 1}: ${what}`)
    // A worker takes its job up again, a feature raises again; what comes of it is looked at with the next crash.
    await again()
    if (!struck || endured.broken.length > 0) return
    endured.crashes += 1
  }
}

if (process.argv[1] === import.meta.filename) {
  const downs: (() => unknown)[] = []
  try {
    const result = await endure({ teardown: down => downs.push(down) }, Number(process.argv[2] ?? 1_000))
    console.table([{ ...result, broken: result.broken.length }])
    for (const line of result.broken) console.log(line)
    if (result.broken.length > 0) process.exitCode = 1
  } finally {
    for (const down of downs.reverse()) await down()
  }
}
