import { setTimeout as wait } from 'node:timers/promises'
import type { Random } from '../bench/detector-random.ts'
import { MAX_IN_FLIGHT, tally, type Tally } from './ledger.ts'
import { noteLoss, setStage, type Play, type Stage } from './stage.ts'

/**
 * The server and its workers are killed one by one, in the middle of whatever they do, and started again: every
 * alert that was committed is delivered, and nothing more often than a crash explains.
 */
export async function kills({ random, isShort, folder }: Play): Promise<Tally> {
  const stage = await setStage({ folder, destinations: 8, role: 'all' })
  try {
    await Promise.all(Array.from({ length: isShort ? 1 : 2 }, () => stage.start('worker')))
    stage.receiver.behave({ statuses: [500, 200], percent: 5, delay: 40 })
    // One and a half messages an alert, each to eight destinations.
    await stage.plan({ alerts: isShort ? 50 : 840, pause: isShort ? 300 : 500 })
    const times = isShort ? 3 : 20
    for (let time = 0; time < times; time++) {
      await wait(random.uniform(1_000, isShort ? 1_500 : 3_000))
      await killOne(stage, random)
    }
    const isSettled = await stage.settled(120)
    return await tally(stage, { most: times * MAX_IN_FLIGHT, isSettled, isShort })
  } finally {
    await stage.end()
  }
}

/** Any running one; its successor starts at once, as under a supervisor. */
async function killOne(stage: Stage, random: Random): Promise<void> {
  const alive = stage.members.filter(member => member.isAlive())
  const victim = alive.length > 0 ? random.pick(alive) : undefined
  if (!victim) return
  victim.signal('SIGKILL')
  const at = Date.now()
  const role = victim.name.startsWith('all') ? 'all' : 'worker'
  // Killed while it starts, no other code restarts it.
  void stage.start(role).catch(() => undefined)
  // By then the others have ended what they were at.
  await wait(700)
  await noteLoss(stage, at)
}
