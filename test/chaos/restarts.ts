import { setTimeout as wait } from 'node:timers/promises'
import { MAX_IN_FLIGHT, tally, type Tally } from './ledger.ts'
import { noteLoss, setStage, type Play, type Stage } from './stage.ts'

/**
 * The product's own PostgreSQL crashes and recovers, and once stays away for half a minute: the servers stay up, say
 * so at /health, and go on by themselves.
 */
export async function restarts({ random, isShort, folder }: Play): Promise<Tally> {
  const stage = await setStage({ folder, destinations: 8, role: 'all' })
  try {
    await stage.start('worker')
    stage.receiver.behave({ statuses: [500, 200], percent: 5, delay: 40 })
    await stage.plan({ alerts: isShort ? 50 : 420, pause: 500 })
    const broken: string[] = []
    const times = isShort ? 2 : 5
    for (let time = 0; time < times; time++) {
      await wait(random.uniform(2_000, 4_000))
      await goDown(stage, 0)
    }
    await wait(random.uniform(1_000, 3_000))
    const { wrong } = await goDown(stage, isShort ? 5 : 30)
    if (wrong.length > 0) broken.push(`/health said ${wrong.join(', ')} while the database was away`)
    const isSettled = await stage.settled(120)
    const dead = stage.members.filter(member => !member.isAlive())
    if (dead.length > 0) broken.push(`${dead.map(({ name }) => name).join(', ')} ended with the database`)
    const result = await tally(stage, {
      most: (times + 1) * MAX_IN_FLIGHT * stage.members.length,
      isSettled,
      isShort,
    })
    return { ...result, broken: [...broken, ...result.broken] }
  } finally {
    await stage.end()
  }
}

/** Takes the cluster down for so many seconds. @returns what /health said meanwhile, but for 503 */
async function goDown(stage: Stage, seconds: number): Promise<{ wrong: unknown[] }> {
  const wrong: unknown[] = []
  const at = Date.now()
  await stage.cluster.crash()
  const back = Date.now() + seconds * 1_000
  while (Date.now() < back) {
    for (const { url } of stage.members.filter(({ url }) => url !== '')) {
      const status = await healthOf(url)
      if (status !== 503) wrong.push(status)
    }
    await wait(500)
  }
  await stage.cluster.restart()
  await noteLoss(stage, at, Date.now())
  return { wrong }
}

async function healthOf(url: string): Promise<number | string> {
  return fetch(`${url}/health`, { signal: AbortSignal.timeout(10_000) }).then(
    ({ status }) => status,
    (error: Error) => error.message,
  )
}
