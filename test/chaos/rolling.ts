import { setTimeout as wait } from 'node:timers/promises'
import { startCallers, type Call } from './callers.ts'
import { tally, type Tally } from './ledger.ts'
import type { Member } from './member.ts'
import { setStage, type Play, type Stage } from './stage.ts'
import { startSwitch, type Switch } from './switch.ts'

/** Seconds within which a stopped server has to end. */
const STOP_SECONDS = 30
/** What the API is asked meanwhile: reads, and a write. */
const ALERTS = '/api/v1/sdk/alerts'

/**
 * Two servers behind a switch are replaced one after the other, again and again, while clients call and alerts are
 * delivered: no call fails, no message is lost or sent twice, and a stopped server ends in time.
 */
export async function rolling({ isShort, folder }: Play): Promise<Tally> {
  const stage = await setStage({ folder, destinations: 4, role: 'all' })
  const front = await startSwitch()
  try {
    await stage.start('all')
    stage.members.forEach(({ url }) => front.targets.add(url))
    stage.receiver.behave({ statuses: [500, 200], percent: 5, delay: 150 })
    await stage.plan({ alerts: 1_000_000, batch: 2, pause: 500 })
    const callers = startCallers(front.url, await callsOf(stage), { callers: 12, pause: 150 })
    const broken: string[] = []
    const ends: number[] = []
    const times = isShort ? 3 : 20
    for (let time = 0; time < times; time++) {
      const { seconds, code } = await replace(stage, front)
      ends.push(seconds)
      if (code !== 0) broken.push(`A stopped server ended with ${code}`)
      if (seconds > STOP_SECONDS) broken.push(`A server took ${seconds.toFixed(1)} s to end`)
      await wait(1_000)
    }
    const { calls, failures, longest } = await callers.end()
    for (const [what, count] of Object.entries(failures)) broken.push(`${count} calls came to ${what}`)
    if (front.refused() > 0) broken.push(`${front.refused()} connections were accepted by no server`)
    await stage.plan({ alerts: 0 })
    const isSettled = await stage.settled(120)
    // Beside other scenarios a process may not get its turn for so long that it loses a connection.
    const result = await tally(stage, { most: isShort ? times : 0, isSettled, isShort })
    return {
      ...result,
      note: `${times} times replaced, ${calls} calls, the longest ${longest.toFixed(0)} ms; ended after ${Math.max(...ends).toFixed(1)} s at most`,
      broken: [...broken, ...result.broken],
    }
  } finally {
    front.close()
    await stage.end()
  }
}

async function callsOf({ members, key }: Stage): Promise<Call[]> {
  const path = `${ALERTS}/destinations`
  const response = await fetch(`${members[0]!.url}${path}`, { headers: { authorization: `Bearer ${key}` } })
  const { data } = (await response.json()) as { data: { destinations: { id: string; name: string }[] } }
  const { id, name } = data.destinations[0]!
  return [
    { method: 'GET', path, credential: key },
    { method: 'GET', path: '/api/public/docs/getting-started.md' },
    { method: 'GET', path: `${ALERTS}?limit=20`, credential: key },
    { method: 'PATCH', path: `${path}/${id}`, body: { name }, credential: key },
  ]
}

/** The oldest goes when a new one is there. */
async function replace(stage: Stage, front: Switch): Promise<{ seconds: number; code: number | string }> {
  const oldest = stage.members.find(member => member.isAlive()) as Member
  const next = await stage.start('all')
  front.targets.add(next.url)
  const toldAt = performance.now()
  oldest.signal('SIGTERM')
  const code = await oldest.ended
  front.targets.delete(oldest.url)
  return { seconds: (performance.now() - toldAt) / 1_000, code }
}
