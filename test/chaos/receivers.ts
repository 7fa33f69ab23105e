import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Arrival } from './receiver.ts'
import { addDestination, post, setStage, type Play, type Stage } from './stage.ts'
import { TROUBLES } from './troubles.ts'

const ONE = '/one'
/** Seconds within which a message comes that is due. */
const DUE_SECONDS = 30
/** Seconds within which a receiver is notified after a cooldown of a minute: sweeps look once a minute. */
const COOLED_SECONDS = 60 + 60 + DUE_SECONDS

/**
 * What receivers know of troubles is true: one that gets worse is sent whatever the cooldown, one that goes on after
 * the cooldown is sent once, and the end goes to those that were notified of the beginning, whatever became of rules.
 */
export async function receivers({ isShort, folder }: Play): Promise<{ broken: string[]; note: string }> {
  const settings = {
    EXTENSIONS: ['raiser.ts', 'troubles.ts'].map(file => join(import.meta.dirname, file)).join(),
  }
  const stage = await setStage({ folder, destinations: 0, role: 'all', settings })
  try {
    await stage.query(TROUBLES)
    const base = `${stage.members[0]!.url}/api/v1/sdk/alerts`
    const add = (path: string) =>
      addDestination(stage.members[0]!.url, stage.key, `${stage.receiver.url}/${path}`)
    const world: World = {
      stage,
      broken: [],
      destinations: { one: await add('one'), two: await add('two') },
      ask: (method, path, payload) => post(`${base}${path}`, payload, stage.key, method),
    }
    await playEnds(world)
    await playEscalation(world)
    if (!isShort) await playCooldown(world)
    return { broken: world.broken, note: isShort ? 'without the wait for a cooldown' : '' }
  } finally {
    await stage.end()
  }
}

interface World {
  stage: Stage
  broken: string[]
  destinations: { one: string; two: string }
  ask(method: string, path: string, payload: object): Promise<{ data: { id: string } }>
}

/** Each change of the rules between the beginning and the end of a trouble. */
async function playEnds(world: World): Promise<void> {
  const { ask, broken, destinations } = world
  const changes: Record<string, [method: string, payload: object]> = {
    'is switched off': ['PATCH', { is_active: false }],
    'lets other severities through': ['PATCH', { severities: ['info'] }],
    'sends to another destination': ['PATCH', { destination_ids: [destinations.two] }],
    'is deleted': ['DELETE', {}],
  }
  for (const [change, [method, payload]] of Object.entries(changes)) {
    const rule = await addRule(world, 0)
    await trouble(world, change, 'warning')
    if (!(await isSoon(world, change, all => all.some(isBeginning))))
      broken.push(`Nothing was sent of a trouble before its rule ${change}`)
    await ask(method, `/rules/${rule}`, payload)
    await trouble(world, change, null)
    if (
      !(await isSoon(world, change, all =>
        all.some(({ type, path }) => type === 'alert.resolved' && path === ONE),
      ))
    )
      broken.push(`The receiver was not notified of the end of a trouble whose rule ${change}`)
    if (method !== 'DELETE') await ask('DELETE', `/rules/${rule}`, {})
  }
  // A wrong message is sent beside the one that was awaited, and takes no longer.
  await wait(3_000)
  const strangers = (await world.stage.receiver.arrivals()).filter(({ path }) => path !== ONE)
  if (strangers.length > 0)
    broken.push(`${strangers.length} ends were sent to a receiver that was not notified of the beginning`)
}

/** A trouble that gets worse while its rule cools down. */
async function playEscalation(world: World): Promise<void> {
  const cause = 'escalation'
  const rule = await addRule(world, 60)
  await trouble(world, cause, 'warning')
  await isSoon(world, cause, all => all.some(isBeginning))
  await trouble(world, cause, 'critical')
  if (!(await isSoon(world, cause, all => all.filter(isBeginning).length === 2)))
    world.broken.push('A trouble that got worse in a cooldown was not sent')
  await wait(3_000)
  if (!isKnown(await messages(world, cause)))
    world.broken.push('The receiver takes a trouble that got worse for resolved')
  await trouble(world, cause, null)
  await world.ask('DELETE', `/rules/${rule}`, {})
}

/** A trouble that ends and comes back within the cooldown, and then lasts. */
async function playCooldown(world: World): Promise<void> {
  const cause = 'lasting'
  const rule = await addRule(world, 1)
  await trouble(world, cause, 'critical')
  await isSoon(world, cause, all => all.some(isBeginning))
  await trouble(world, cause, null)
  await trouble(world, cause, 'critical')
  await wait(COOLED_SECONDS * 1_000)
  const all = await messages(world, cause)
  if (!isKnown(all))
    world.broken.push('The receiver was not notified of a trouble that outlasted the cooldown')
  const begun = all.filter(isBeginning).length
  if (begun > 2)
    world.broken.push(`The receiver was notified ${begun - 1} times of a trouble that came back once`)
  await world.ask('DELETE', `/rules/${rule}`, {})
}

const isBeginning = ({ type }: Arrival) => type === 'alert.triggered'

/** Whether a receiver with these messages takes a trouble for open. */
function isKnown(all: readonly Arrival[]): boolean {
  const ended = new Set(all.filter(arrival => !isBeginning(arrival)).map(({ alertId }) => alertId))
  return all.some(arrival => isBeginning(arrival) && !ended.has(arrival.alertId))
}

/** All that has arrived of a cause, in its order. */
async function messages({ stage }: World, cause: string): Promise<Arrival[]> {
  const alerts = await stage.query<{ id: string }>('select id from alerts where cause = $1', [cause])
  const ids = new Set(alerts.map(({ id }) => id))
  return (await stage.receiver.arrivals()).filter(({ alertId }) => ids.has(alertId))
}

async function isSoon(world: World, cause: string, isSo: (all: Arrival[]) => boolean): Promise<boolean> {
  const deadline = Date.now() + DUE_SECONDS * 1_000
  while (Date.now() < deadline) {
    if (isSo(await messages(world, cause))) return true
    await wait(100)
  }
  return false
}

async function addRule({ ask, destinations }: World, cooldown: number): Promise<string> {
  const rule = { name: 'chaos', destination_ids: [destinations.one], cooldown_minutes: cooldown }
  return (await ask('POST', '/rules', rule)).data.id
}

/** Begins a trouble, makes it worse or ends it (null), and waits until that is stored. */
async function trouble({ stage }: World, cause: string, severity: string | null): Promise<void> {
  const [row] = await stage.query<{ id: string }>(
    'insert into chaos_troubles (company_id, cause, severity) values ($1, $2, $3) returning id',
    [stage.companyId, cause, severity],
  )
  const isDone = 'select from chaos_troubles where id = $1 and is_done'
  while ((await stage.query(isDone, [row!.id])).length === 0) await wait(50)
}
