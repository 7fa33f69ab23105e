/** How long requests of several kinds take, sent one after the other in rounds. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Tenant, TestServer } from '../helpers/server.ts'
import { quantile } from './rows.ts'

/** A kind of request. */
export interface RequestKind {
  name: string
  path: string
}

/** What the requests of a kind took, in milliseconds, and how many records their list has. */
export interface RequestTimes extends RequestKind {
  total: string
  p50: number
  p95: number
  max: number
}

/** Sends all kinds in rounds; the first round warms up. */
export async function measureRequests(
  app: TestServer,
  tenant: Tenant,
  kinds: readonly RequestKind[],
  times: number,
): Promise<RequestTimes[]> {
  const base = app.server.info.uri
  const taken = new Map<string, number[]>(kinds.map(({ name }) => [name, []]))
  const totals = new Map<string, string>()
  for (let round = 0; round <= times; round++) {
    for (const { name, path } of kinds) {
      // A key may ask 5,000 times a minute.
      await wait(12)
      const startedAt = performance.now()
      const reply = await fetch(base + path, { headers: { authorization: `Bearer ${tenant.key}` } })
      const body = (await reply.json()) as { pagination?: { total: number }; data?: { total?: number } }
      const ms = performance.now() - startedAt
      if (reply.status !== 200) throw new Error(`${path} gave ${reply.status}: ${JSON.stringify(body)}`)
      if (round > 0) taken.get(name)?.push(ms)
      totals.set(name, String(body.pagination?.total ?? body.data?.total ?? ''))
    }
  }
  return kinds.map(kind => {
    const at = (share: number) => quantile(taken.get(kind.name) ?? [], share)
    return { ...kind, total: totals.get(kind.name) ?? '', p50: at(0.5), p95: at(0.95), max: at(1) }
  })
}

/** Prints a table of what kinds of requests took. */
export function printTimes(title: string, measured: readonly RequestTimes[]): void {
  console.log(`\n${title}\n`)
  console.log(`${'request'.padEnd(36)}${['total', 'p50 ms', 'p95 ms', 'max ms'].map(pad).join('')}`)
  for (const { name, total, p50, p95, max } of measured)
    console.log(name.padEnd(36) + [total, ...[p50, p95, max].map(ms => ms.toFixed(1))].map(pad).join(''))
}

function pad(text: string): string {
  return text.padStart(10)
}
