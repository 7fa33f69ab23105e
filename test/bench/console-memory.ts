/** The memory of pages of the console that are left open, for `console.ts`. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { openScreen, readMemory, untilSettled, type PageMemory } from './console-page.ts'
import type { LargeWorld } from './console-world.ts'
import type { BenchRow } from './rows.ts'

/** Minutes in which caches fill, which are no growth. */
const WARM_UP = 5

/** Leaves the overview and the inbox open, while an alert comes every minute. */
export async function watchMemory(
  world: LargeWorld,
  openSignedIn: () => Promise<Page>,
  minutes: number,
): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  const pages = new Map<string, Page>()
  for (const path of ['/', '/alerts']) {
    const page = await openSignedIn()
    await untilSettled(page)
    if (path !== '/') await openScreen(page, path)
    pages.set(path, page)
  }
  const samples = new Map<string, PageMemory[]>([...pages.keys()].map(path => [path, []]))
  for (let minute = 0; minute <= minutes; minute++) {
    if (minute > 0) {
      await world.raiseAlert()
      await wait(60_000)
    }
    for (const [path, page] of pages) {
      const session = await page.context().newCDPSession(page)
      const memory = await readMemory(session)
      await session.detach()
      samples.get(path)!.push(memory)
      if (minute % 5 === 0 || minute === minutes)
        console.log(
          `minute ${minute} ${path}: ${memory.heapKb.toFixed(0)} KB, ${memory.nodes} nodes, ${memory.listeners} listeners`,
        )
    }
  }
  for (const [path, all] of samples) {
    const settled = all.slice(Math.min(WARM_UP, all.length - 1))
    const growth = slopeOf(settled.map(({ heapKb }) => heapKb)) * 60
    const [first, last] = [settled[0]!, settled.at(-1)!]
    console.log(
      `\n${path}: ${growth.toFixed(0)} KB an hour by regression; heap ${first.heapKb.toFixed(0)} to ${last.heapKb.toFixed(0)} KB, nodes ${first.nodes} to ${last.nodes}, listeners ${first.listeners} to ${last.listeners}`,
    )
    rows.push({ what: `Console: growth of ${path} per hour`, ours: growth, unit: 'KB' })
    await pages.get(path)!.context().close()
  }
  return rows
}

/** The slope of the least squares line through values a minute apart. */
function slopeOf(all: readonly number[]): number {
  const [x, y] = [(all.length - 1) / 2, all.reduce((sum, value) => sum + value, 0) / all.length]
  const covariance = all.reduce((sum, value, n) => sum + (n - x) * (value - y), 0)
  return covariance / (all.reduce((sum, _, n) => sum + (n - x) ** 2, 0) || 1)
}
