import t, { type Test } from 'tap'
import type { Severity } from '../../../../plugins/alerts/api.ts'
import { startServer } from '../../../helpers/server.ts'
import { passTime, sweepStep } from '../time.ts'
import { ALERTS, makeWorld, type World } from '../world.ts'

const app = await startServer(t, { settings: { ROLE: 'web' } })
const { server, query } = app
const url = 'https://127.0.0.1:9/hook'

/** The same numbers in each run. */
let seed = 20_261_123
const random = (below: number) => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
  return (seed >>> 8) % below
}
const oneOf = <Item>(items: readonly Item[]): Item => items[random(items.length)]!

const CAUSES = ['rule:1', 'rule:2', 'rule:3']
const SEVERITIES: Severity[] = ['info', 'warning', 'critical']

interface AlertRow {
  id: string
  cause: string
  severity: Severity
  status: string
  supersedes: string | null
}

interface Message {
  alertId: string
  to: string
  type: string
  isPostponed: boolean
  isDue: boolean
}

/** What a company has: its alerts, and its messages in their order but for those that were never meant to be sent. */
async function look({ companyId }: World): Promise<{ alerts: Map<string, AlertRow>; messages: Message[] }> {
  const alerts = (await query(
    'select id, cause, severity, status, supersedes from alerts where company_id = $1 order by id',
    [companyId],
  )) as unknown as AlertRow[]
  const messages = await query(
    `select alert_id as "alertId", destination_id as "to", event_type as type, next_attempt_at <= now() as "isDue",
            status = 'pending' and job_id is null and event_type = 'alert.triggered' as "isPostponed"
       from deliveries where company_id = $1 and not (status = 'stopped' and fence = 0) order by id`,
    [companyId],
  )
  return {
    alerts: new Map(alerts.map(alert => [alert.id, alert])),
    messages: messages as unknown as Message[],
  }
}

const isOpen = ({ status }: AlertRow) => ['triggered', 'acknowledged', 'snoozed'].includes(status)

/** Looks whether what receivers know is true. */
async function check(t: Test, world: World, woken: ReadonlyMap<string, number>, what: string): Promise<void> {
  const { alerts, messages } = await look(world)
  const sent = messages.filter(({ isPostponed }) => !isPostponed)
  const problems: string[] = []
  const incidents = new Map<string, { alertId: string; to: string }>()
  const begun = new Map<string, number>()
  for (const { alertId, to, type } of sent) {
    const key = `${alertId} ${to}`
    if (type === 'alert.triggered') {
      incidents.set(key, { alertId, to })
      begun.set(key, (begun.get(key) ?? 0) + 1)
    } else if (!incidents.delete(key))
      problems.push(`${to} was notified of the end of ${alertId} alone, or twice`)
  }
  for (const [key, times] of begun)
    if (times > 1 + (woken.get(key.split(' ')[0]!) ?? 0)) problems.push(`${key} was sent ${times} times`)
  const current = [...alerts.values()].filter(isOpen)
  const chainOf = (alert: AlertRow | undefined): string[] =>
    // What was dismissed was over for receivers.
    alert && alert.status !== 'dismissed' ? [alert.id, ...chainOf(alerts.get(alert.supersedes ?? ''))] : []
  const chains = current.map(alert => new Set(chainOf(alert)))
  for (const { alertId, to } of incidents.values())
    if (!chains.some(chain => chain.has(alertId))) problems.push(`${alertId} stays open at ${to}`)
  for (const chain of chains)
    for (const to of new Set(sent.filter(({ alertId }) => chain.has(alertId)).map(message => message.to)))
      if (![...incidents.values()].some(one => one.to === to && chain.has(one.alertId)))
        problems.push(`${[...chain].join()} is over at ${to}, and lasts`)
  for (const { alertId, to, isPostponed, isDue } of messages)
    if (isPostponed && !isOpen(alerts.get(alertId)!))
      problems.push(`${alertId} is over and still waits for ${to}`)
    else if (isPostponed && isDue && alerts.get(alertId)!.status !== 'snoozed')
      problems.push(`${alertId} should have been sent to ${to}`)
  t.strictSame(problems, [], what)
}

const raise = (world: World) => world.raise({ cause: oneOf(CAUSES), severity: oneOf(SEVERITIES) })
const recover = (world: World) => world.recover(oneOf(CAUSES))

/** Lets five minutes pass and does what the sweep does. */
async function step(world: World): Promise<void> {
  await passTime(app, world.companyId, 5)
  await sweepStep(server, 'woken')
  await sweepStep(server, 'postponed')
}

t.test('receivers know what is true, whatever comes in whichever order', async t => {
  for (let round = 0; round < 6; round += 1) {
    const world = await makeWorld(app)
    const destinations = await Promise.all([1, 2, 3].map(() => world.addDestination({ url })))
    const rules: string[] = []
    for (let count = 1 + random(3); count > 0; count -= 1) {
      const { body } = await world.ask('POST', `${ALERTS}/rules`, {
        name: 'r',
        destination_ids: destinations.filter((_, at) => at === count - 1 || random(2)).map(({ id }) => id),
        cooldown_minutes: oneOf([0, 10, 20, 60]),
        ...(random(3) === 0 && { severities: [oneOf(SEVERITIES)] }),
      })
      rules.push(body.data.id)
    }
    const woken = new Map<string, number>()
    const move = async (verb: string, body?: object) => {
      const open = [...(await look(world)).alerts.values()].filter(isOpen)
      if (open.length === 0) return
      const { id } = oneOf(open)
      if (verb === 'snooze') woken.set(id, (woken.get(id) ?? 0) + 1)
      await world.ask('POST', `${ALERTS}/${id}/${verb}`, body)
    }
    const deeds: [string, () => Promise<unknown>][] = [
      ['raise', () => raise(world)],
      ['raise', () => raise(world)],
      ['raise', () => raise(world)],
      ['recover', () => recover(world)],
      ['recover', () => recover(world)],
      ['step', () => step(world)],
      ['step', () => step(world)],
      ['acknowledge', () => move('acknowledge')],
      ['resolve', () => move('resolve')],
      ['dismiss', () => move('dismiss')],
      ['snooze', () => move('snooze', { duration_minutes: 7 })],
      [
        'rule',
        () =>
          world.ask('PATCH', `${ALERTS}/rules/${oneOf(rules)}`, {
            is_active: random(3) > 0,
            cooldown_minutes: oneOf([0, 10, 60]),
            severities: oneOf([null, ['warning', 'critical']]),
          }),
      ],
    ]
    const done: string[] = []
    for (let count = 0; count < 50; count += 1) {
      const [name, deed] = oneOf(deeds)
      done.push(name)
      await deed()
      // A rule that was changed is considered by the sweep.
      if (name === 'rule') await sweepStep(server, 'postponed')
      await check(t, world, woken, `round ${round}: ${done.join(', ')}`)
    }
    await world.recoverAll(CAUSES)
    await check(t, world, woken, `round ${round}: recovered`)
  }
})

t.test('a preview shows what the rule did', async t => {
  const seen = new Set<string>()
  const fail = (world: World) =>
    world.raise({ cause: oneOf(CAUSES), severity: random(8) ? 'warning' : 'critical' })
  for (let round = 0; round < 4; round += 1) {
    const world = await makeWorld(app)
    const { id } = await world.addDestination({ url })
    const { body } = await world.ask('POST', `${ALERTS}/rules`, {
      name: 'r',
      destination_ids: [id],
      cooldown_minutes: [20, 60, 10, 30][round],
      ...(round === 3 && { severities: ['warning', 'critical'] }),
    })
    const wasSent = new Set<string>()
    const atOnce = new Set<string>()
    const note = async (into: Set<string>[]) => {
      const { messages } = await look(world)
      for (const { alertId, type, isPostponed } of messages)
        if (type === 'alert.triggered' && !isPostponed && !wasSent.has(alertId))
          for (const set of into) set.add(alertId)
    }
    for (let count = 0; count < 60; count += 1) {
      await oneOf([fail, recover])(world)
      await note([atOnce, wasSent])
      if (random(2)) await step(world)
      await note([wasSent])
    }
    // What waits still: its time comes.
    for (let count = 0; count < 13; count += 1) await step(world)
    await note([wasSent])
    const shown = await world.ask('POST', `${ALERTS}/preview`, { rule_id: body.data.id, limit: 100 })
    const { alerts } = shown.body.data
    for (const { outcome } of alerts) seen.add(outcome)
    t.strictSame(
      alerts.map((alert: { id: string; outcome: string }) => [alert.id, alert.outcome]),
      alerts.map((alert: { id: string }) => [
        alert.id,
        atOnce.has(alert.id) ? 'told' : wasSent.has(alert.id) ? 'postponed' : 'held_back',
      ]),
    )
  }
  t.equal(seen.size, 3, [...seen].join())
})
