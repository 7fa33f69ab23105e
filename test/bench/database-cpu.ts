/** What PostgreSQL has spent, by the counts of the kernel. */
import { readdir, readFile } from 'node:fs/promises'
import type { TestServer } from '../helpers/server.ts'

/** Milliseconds of a tick of the kernel's clock, in which it counts the time of a process. */
const TICK_MS = 10

/** The process id of the cluster that holds the product's database. */
export async function postmasterOf(app: TestServer): Promise<number> {
  const [found] = await app.query(`select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid`)
  return Number(found?.pid)
}

/** CPU milliseconds of all processes of a cluster, those that ended too; NaN where there is no /proc. */
export async function databaseCpuMs(postmaster: number): Promise<number> {
  const pids = (await readdir('/proc').catch(() => [])).filter(name => /^\d+$/.test(name))
  let ticks = pids.length > 0 ? 0 : NaN
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    const [, parent, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [user, system, endedUser, endedSystem] = rest.slice(9, 13).map(Number)
    if (Number(parent) === postmaster) ticks += user! + system!
    else if (Number(pid) === postmaster) ticks += user! + system! + endedUser! + endedSystem!
  }
  return ticks * TICK_MS
}
