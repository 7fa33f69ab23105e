import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startCallers } from './callers.ts'
import { MAX_IN_FLIGHT, RECOVERY_SECONDS, tally, type Tally } from './ledger.ts'
import { setStage, type Play, type Stage } from './stage.ts'

/** MiB of the disk that the database is on. */
const DISK_MIB = 160
/** Tries of an attempt whose end cannot be recorded: each arrives. */
const MAX_TRIES = 4

/**
 * The disk of the product's own database gets full, and is given room again: reads go on, writes are answered with a
 * retry later, nothing is lost, and all processes recover by themselves. Its log of changes is on another disk: without room for
 * that PostgreSQL itself stops. Needs to be root, on Linux.
 */
export async function full({ isShort, folder }: Play): Promise<Tally> {
  // Not beneath the folder of the logs, which the user who runs PostgreSQL may not enter.
  const disk = mkdtempSync(join(tmpdir(), 'tidemark-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m,mode=755`, 'none', disk])
  const unmount = () => execFileSync('umount', ['-l', disk])
  // However the run ends.
  process.once('exit', unmount)
  let stage: Stage | undefined
  try {
    stage = await setStage({
      folder,
      destinations: 4,
      role: 'all',
      async tablespace(ask) {
        const [place] = await ask<{ folder: string }>(`select current_setting('data_directory') as folder`)
        const { uid, gid } = statSync(place!.folder)
        const inside = join(disk, 'space')
        mkdirSync(inside)
        chownSync(inside, uid, gid)
        await ask(`create tablespace small location '${inside}'`)
        return 'small'
      },
    })
    await stage.start('worker')
    stage.receiver.behave({ statuses: [500, 200], percent: 5, delay: 40 })
    await stage.plan({ alerts: 1_000_000, batch: 2, pause: 300 })
    await wait(3_000)
    const { broken, note } = await fillAndFree(stage, join(disk, 'filler'), isShort ? 10 : 30)
    await stage.plan({ alerts: 0 })
    const isSettled = await stage.settled(120)
    const result = await tally(stage, {
      most: stage.members.length * MAX_IN_FLIGHT * MAX_TRIES,
      isSettled,
      isShort,
    })
    return { ...result, note, broken: [...broken, ...result.broken] }
  } finally {
    await stage?.end()
    process.off('exit', unmount)
    unmount()
    rmdirSync(disk)
  }
}

async function fillAndFree(
  stage: Stage,
  filler: string,
  seconds: number,
): Promise<{ broken: string[]; note: string }> {
  const { url } = stage.members[0]!
  const destinations = '/api/v1/sdk/alerts/destinations'
  const readers = startCallers(url, [{ method: 'GET', path: destinations, credential: stage.key }], {
    callers: 4,
    pause: 200,
  })
  const broken: string[] = []
  fill(filler)
  const refused = await until(seconds, async () => (await write(stage)) === 503)
  if (refused === null) broken.push('Nothing that was written was refused with 503 though the disk was full')
  const reportedAfter = await until(seconds, async () => (await healthOf(url)).writable === false)
  if (reportedAfter === null) broken.push('/health did not report that nothing can be written')
  const { calls, failures } = await readers.end()
  for (const [what, count] of Object.entries(failures)) broken.push(`${count} reads came to ${what}`)
  rmSync(filler)
  const recovered = await until(RECOVERY_SECONDS, async () => (await write(stage)) === 201)
  if (recovered === null)
    broken.push(`Nothing could be written ${RECOVERY_SECONDS} s after there was room again`)
  return { broken, note: `${calls} reads while it was full, writes again after ${recovered?.toFixed(1)} s` }
}

/** Takes all the room that there is, again and again: PostgreSQL gives some back as it goes. */
function fill(filler: string): void {
  const file = openSync(filler, 'w')
  for (let size = 1024 * 1024; size >= 4096;) {
    try {
      writeSync(file, Buffer.alloc(size))
    } catch {
      size /= 2
    }
  }
  closeSync(file)
}

/** @returns the seconds it took to become true, or null when it did not */
async function until(seconds: number, isTrue: () => Promise<boolean>): Promise<number | null> {
  const startedAt = performance.now()
  const since = () => (performance.now() - startedAt) / 1_000
  while (since() < seconds) {
    if (await isTrue()) return since()
    await wait(100)
  }
  return null
}

/** Adds something that is no part of what is delivered, and soon needs room. @returns the status */
async function write({ members, key }: Stage): Promise<number> {
  const rules = [{ days: [1], start: '09:00', end: '17:00' }]
  const response = await fetch(`${members[0]!.url}/api/v1/operating-schedules`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ name: `${randomUUID()} ${'x'.repeat(60)}`, timezone: 'UTC', rules }),
  })
  await response.arrayBuffer()
  return response.status
}

async function healthOf(url: string): Promise<{ writable: boolean | null }> {
  const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(10_000) })
  const { data } = (await response.json()) as { data: { database: { writable: boolean | null } } }
  return data.database
}
