import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { OpenApiDocument } from '../../server/openapi/document.ts'
import { malformedRequests, sendAll } from '../helpers/malformed.ts'
import { exchange } from '../helpers/raw-http.ts'
import type { Tally } from './ledger.ts'
import { setStage, type Play, type Stage } from './stage.ts'

/** MiB that ten thousand wrong requests may leave behind. */
const MAX_LEFT_MIB = 50
/** Seconds in which a connection is closed whose head, or whose body, comes too slowly. */
const SLOW_HEAD_SECONDS = 12
const SLOW_BODY_SECONDS = 22
/** The rate limit of a key is 100 per second. */
const REQUESTS_PER_KEY = 100

/**
 * Clients that mean no good, one kind after the other: requests gone wrong, connections that never come to an end, and a
 * flood of sign-ins. None makes the server fail, and who asks properly meanwhile is answered.
 */
export async function clients({ isShort, folder, random }: Play): Promise<Pick<Tally, 'broken' | 'note'>> {
  const stage = await setStage({ folder, destinations: 0, role: 'web', settings: { TRUST_PROXY: '1' } })
  try {
    const broken = [
      ...(await malformed(stage, isShort ? 1_000 : 10_000, random.integer(1, 1e9))),
      ...(await slow(stage, isShort ? 50 : 500)),
      ...(await flood(stage, isShort ? 5_000 : 60_000)),
    ]
    return { broken, note: '' }
  } finally {
    await stage.end()
  }
}

async function malformed(stage: Stage, count: number, seed: number): Promise<string[]> {
  const [server] = stage.members
  const { url, pid } = server!
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument
  const keys = await addKeys(stage, Math.ceil((2 * count) / REQUESTS_PER_KEY))
  const requests = malformedRequests(document, { count: 2 * count, seed, keys })
  // As many before, so that what is compiled and cached at first is not taken for a leak.
  const problems = await sendAll(url, requests.slice(0, count))
  const before = memoryOf(pid)
  problems.push(...(await sendAll(url, requests.slice(count))))
  await wait(2_000)
  const left = memoryOf(pid) - before
  if (left > MAX_LEFT_MIB) problems.push(`${count} wrong requests left ${left.toFixed(0)} MiB behind`)
  return problems
}

/** MiB that a process has now; NaN where the system does not report it. */
function memoryOf(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  } catch {
    return NaN
  }
}

async function addKeys(stage: Stage, count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, () => `aa_${randomBytes(30).toString('base64url')}`)
  await stage.query(
    `insert into api_keys (id, company_id, name, key_hash, key_prefix, key_suffix, scope)
     select gen_random_uuid(), c.company_id, 'chaos', hash, 'aa_', '0000', 'admin'
     from unnest($1::bytea[]) hash, (select company_id from companies limit 1) c`,
    [keys.map(key => createHash('sha256').update(key).digest())],
  )
  return keys
}

async function slow(stage: Stage, count: number): Promise<string[]> {
  const { url } = stage.members[0]!
  const more = Array.from({ length: 60 }, (_, n) => `X-More-${n}: x\r\n`)
  const body = Array.from({ length: 60 }, () => ' ')
  const head = 'POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
  const asking = new AbortController()
  const answers = ask(stage, asking.signal)
  const half = Math.ceil(count / 2)
  const options = { pause: 1_000, patience: 40_000 }
  const [heads, bodies] = await Promise.all([
    Promise.all(Array.from({ length: half }, () => exchange(url, head, { ...options, more }))),
    Promise.all(
      Array.from({ length: half }, () =>
        exchange(url, `${head}Content-Length: 1000\r\n\r\n{`, { ...options, more: body }),
      ),
    ),
  ])
  asking.abort()
  const late = (all: typeof heads, seconds: number) =>
    all.filter(({ closedAfter }) => closedAfter === null || closedAfter > seconds * 1_000).length
  const broken = await answers
  if (late(heads, SLOW_HEAD_SECONDS) > 0)
    broken.push(`${late(heads, SLOW_HEAD_SECONDS)} of ${half} slow heads were left open`)
  if (late(bodies, SLOW_BODY_SECONDS) > 0)
    broken.push(`${late(bodies, SLOW_BODY_SECONDS)} of ${half} slow bodies were left open`)
  return broken
}

/** Sends ordinary requests until stopped. @returns a sentence for each answer other than 200 */
async function ask({ members, key }: Stage, signal: AbortSignal): Promise<string[]> {
  const broken: string[] = []
  while (!signal.aborted) {
    const headers = { authorization: `Bearer ${key}` }
    const status = await fetch(`${members[0]!.url}/api/v1/assets`, { headers }).then(
      async response => (await response.arrayBuffer(), response.status),
      (error: unknown) => String(error),
    )
    if (status !== 200) broken.push(`A valid request was answered ${status}`)
    await wait(100)
  }
  return broken
}

/** Sign-ins from an address each, as fast as 32 connections take them. */
async function flood(stage: Stage, milliseconds: number): Promise<string[]> {
  const { url } = stage.members[0]!
  const signal = AbortSignal.timeout(milliseconds)
  const agent = new http.Agent({ keepAlive: true, maxSockets: 32 })
  const broken = ask(stage, signal)
  const statuses = new Set<number>()
  let address = 0
  const one = async () => {
    while (!signal.aborted) {
      address += 1
      const { status } = await post(
        `${url}/api/v1/auth/login`,
        agent,
        `10.0.${(address >> 8) & 255}.${address & 255}`,
      )
      statuses.add(status)
    }
  }
  await Promise.all(Array.from({ length: 32 }, one))
  agent.destroy()
  const odd = [...statuses].filter(status => ![401, 429, 503].includes(status))
  return [...(await broken), ...odd.map(status => `A sign-in was answered ${status}`)]
}

function post(url: string, agent: http.Agent, from: string): Promise<{ status: number }> {
  const body = JSON.stringify({ email: `${randomUUID()}@example.com`, password: 'a wrong password' })
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': from }
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method: 'POST', agent, headers }, response => {
      response.resume().on('end', () => resolve({ status: response.statusCode ?? 0 }))
    })
    request.on('error', reject)
    request.end(body)
  })
}
