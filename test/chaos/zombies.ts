import { setTimeout as wait } from 'node:timers/promises'
import { tally, type Tally } from './ledger.ts'
import { noteLoss, setStage, type Play, type Stage } from './stage.ts'

/** Seconds after which the engine gives an attempt up that has not ended, with some to spare. */
const PAST_EXPIRY_SECONDS = 100
const WORKERS = 3

/**
 * Workers fall asleep in the middle of their attempts, as a paused virtual machine does, and wake when others have
 * long finished those: what the others wrote stays.
 */
export async function zombies({ isShort, folder }: Play): Promise<Tally> {
  const stage = await setStage({ folder, destinations: 16, role: 'web' })
  try {
    let woken = 0
    const broken: string[] = []
    // The sleeper was refused and the other one accepted, then the other way round; the last sleeps past every limit.
    const rounds: [[number, number, number], number][] = [[[500, 200, 200], 0]]
    if (!isShort) rounds.push([[200, 500, 200], PAST_EXPIRY_SECONDS])
    for (const [statuses, seconds] of rounds) {
      stage.receiver.behave({ statuses, percent: 100, delay: 40, isHolding: true })
      const round = await sleepAndWake(stage, { workers: isShort ? 1 : WORKERS, seconds })
      woken += round.asleep
      if (round.changed > 0) broken.push(`${round.changed} rows were changed by workers that woke too late`)
      if (!round.isSettled) broken.push('What sleepers left was not taken up in time')
    }
    if (!isShort && woken < 50) broken.push(`Only ${woken} attempts were put to sleep: 50 were meant`)
    const result = await tally(stage, { most: woken, isSettled: true, isShort })
    return { ...result, broken: [...broken, ...result.broken], note: `${woken} attempts asleep` }
  } finally {
    await stage.end()
  }
}

interface Round {
  /** Attempts whose worker slept. */
  asleep: number
  /** Rows that differ from before the sleepers woke. */
  changed: number
  isSettled: boolean
}

async function sleepAndWake(
  stage: Stage,
  { workers, seconds }: { workers: number; seconds: number },
): Promise<Round> {
  const sleepers = await Promise.all(Array.from({ length: workers }, () => stage.start('worker')))
  const [raised] = await stage.query<{ count: number }>(
    'select cast(count(*) as integer) as count from alerts',
  )
  await stage.plan({ alerts: (raised?.count ?? 0) + 10, batch: 10 })
  const asleep = await waitingRequests(stage)
  sleepers.forEach(sleeper => sleeper.signal('SIGSTOP'))
  const at = Date.now()
  await noteLoss(stage, at)
  // Their answers wait in their sockets.
  stage.receiver.release()
  stage.receiver.behave({ statuses: [200], percent: 100, delay: 40 })
  const rescuer = await stage.start('worker')
  const isSettled = await stage.settled(120)
  await wait(Math.max(0, at + seconds * 1_000 - Date.now()))
  const finished = await snapshot(stage)
  sleepers.forEach(sleeper => sleeper.signal('SIGCONT'))
  // Nothing says that they are done with it but their own silence.
  await wait(6_000)
  const now = new Set(await snapshot(stage))
  const changed = finished.filter(row => !now.has(row)).length + Math.abs(now.size - finished.length)
  for (const member of [...sleepers, rescuer]) member.signal('SIGKILL')
  return { asleep, changed, isSettled }
}

/** How many requests the receiver holds, once they do not get more. */
async function waitingRequests(stage: Stage): Promise<number> {
  for (let before = -1; ;) {
    await wait(1_500)
    const now = await stage.receiver.waiting()
    if (now > 0 && now === before) return now
    before = now
  }
}

/** Every delivery and every attempt, a row a text. */
async function snapshot(stage: Stage): Promise<string[]> {
  const all = await stage.query<{ row: string }>(
    `select cast(d as text) as row from deliveries d union all select cast(a as text) from delivery_attempts a`,
  )
  return all.map(({ row }) => row)
}
