/**
 * Signs in with known and unknown emails and compares what is answered, byte for byte, and how long it takes; then
 * floods the sign-in and measures what other requests feel of it. The figures are printed, not judged: only different
 * answers end it with 1.
 *
 * `node test/bench/login.ts [--logins 500] [--seconds 10] [--flooders 32]`
 */
import { parseArgs } from 'node:util'
import { startProcess } from '../helpers/server-process.ts'
import { startServer } from '../helpers/server.ts'
import { median, quantile, printRows } from './rows.ts'

const { values } = parseArgs({
  options: {
    logins: { type: 'string', default: '500' },
    seconds: { type: 'string', default: '10' },
    flooders: { type: 'string', default: '32' },
    json: { type: 'boolean', default: false },
  },
})
const LOGINS = Number(values.logins)
const SECONDS = Number(values.seconds)
const FLOODERS = Number(values.flooders)
/** Between two requests of the one who is not signing in; a key of the plan enterprise may 100 a second. */
const PAUSE = 25
const RESAMPLES = 2_000

const downs: (() => unknown)[] = []
const app = await startServer({ teardown: down => downs.push(down) }, { settings: { ROLE: 'web' } })
// A proxy's word makes each sign-in come from an address of its own: limits by address are not what is measured.
const url = await startProcess({ teardown: down => downs.push(down) }, app, { TRUST_PROXY: '1' })
const { companyId, key } = await app.signUp()
await app.query(
  `insert into users (id, company_id, email, password_hash, role)
   select gen_random_uuid(), company_id, 'known-' || n || '@example.com', password_hash, 'member'
   from users, generate_series(1, $2::int) n where company_id = $1 and role = 'owner'`,
  [companyId, LOGINS],
)

let addresses = 0

/** The next of sixteen million addresses. */
function nextAddress(): string {
  addresses += 1
  return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`
}

interface Answer {
  status: number
  /** All of it but what differs between any two answers. */
  text: string
  milliseconds: number
}

async function signIn(email: string, password: string): Promise<Answer> {
  const startedAt = performance.now()
  const response = await fetch(`${url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': nextAddress() },
    body: JSON.stringify({ email, password }),
  })
  const body = await response.text()
  const milliseconds = performance.now() - startedAt
  const headers = [...response.headers].filter(
    ([name]) => !['date', 'x-request-id', 'x-ratelimit-reset'].includes(name),
  )
  return { status: response.status, text: JSON.stringify([response.status, headers, body]), milliseconds }
}

const ascending = (numbers: readonly number[]) => [...numbers].sort((one, other) => one - other)

function resample(numbers: readonly number[]): number[] {
  return numbers.map(() => numbers[Math.floor(Math.random() * numbers.length)] as number)
}

/** Between what two medians lie apart 95 times of 100, when both are of one kind that was split by chance. */
function noise(one: readonly number[], other: readonly number[]): [number, number] {
  const all = [...one, ...other]
  const apart = ascending(
    Array.from({ length: RESAMPLES }, () => {
      const drawn = resample(all)
      return median(drawn.slice(0, one.length)) - median(drawn.slice(one.length))
    }),
  )
  return [quantile(apart, 0.025), quantile(apart, 0.975)]
}

const ms = (value: number) => `${value.toFixed(2)} ms`.padStart(12)

/** Known and unknown emails by turns, so that what else the machine does meets both. */
async function compare(): Promise<boolean> {
  for (let n = 0; n < 10; n++) await signIn(`warm-${n}@example.com`, 'a wrong password')
  const known: Answer[] = []
  const unknown: Answer[] = []
  for (let n = 1; n <= LOGINS; n++) {
    const both = [
      async () => known.push(await signIn(`known-${n}@example.com`, 'a wrong password')),
      async () => unknown.push(await signIn(`other-${n}@example.com`, 'a wrong password')),
    ]
    for (const turn of Math.random() < 0.5 ? both : both.reverse()) await turn()
  }
  const [ofKnown, ofUnknown] = [known, unknown].map(answers =>
    answers.map(answer => answer.milliseconds),
  ) as [number[], number[]]
  const [low, high] = noise(ofKnown, ofUnknown)
  const halves = (numbers: number[]) =>
    median(numbers.filter((_, index) => index % 2 === 0)) -
    median(numbers.filter((_, index) => index % 2 === 1))
  console.log(`${LOGINS} sign-ins each with a wrong password`)
  for (const [name, numbers] of [
    ['known', ofKnown],
    ['unknown', ofUnknown],
  ] as const) {
    const sorted = ascending(numbers)
    console.log(
      `  ${name.padEnd(10)} median ${ms(quantile(sorted, 0.5))}   p95 ${ms(quantile(sorted, 0.95))}   between its halves ${ms(halves(numbers))}`,
    )
  }
  const difference = median(ofKnown) - median(ofUnknown)
  const isWithin = difference >= low && difference <= high
  console.log(
    `  difference of the medians ${ms(difference)}, ${isWithin ? 'within' : 'OUTSIDE'} the noise of ${ms(low)} to ${ms(high)}`,
  )
  const texts = new Set([...known, ...unknown].map(({ text }) => text))
  if (texts.size === 1)
    console.log('  all answers are the same, but for date, request id and the end of the window')
  else console.log(`  ${texts.size} DIFFERENT answers:\n${[...texts].slice(0, 3).join('\n')}`)
  return texts.size === 1
}

/** Requests with a key, one after the other, until the signal; milliseconds each. */
async function useIt(signal: AbortSignal): Promise<number[]> {
  const took: number[] = []
  while (!signal.aborted) {
    const startedAt = performance.now()
    const response = await fetch(`${url}/api/v1/assets`, { headers: { authorization: `Bearer ${key}` } })
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`another request was answered with ${response.status}`)
    took.push(performance.now() - startedAt)
    await new Promise(resolve => setTimeout(resolve, PAUSE))
  }
  return took
}

/** Signs in over and over, `FLOODERS` at a time, and counts the answers by status. */
async function flood(signal: AbortSignal): Promise<Map<number, number>> {
  const statuses = new Map<number, number>()
  let n = 0
  const one = async () => {
    while (!signal.aborted) {
      n += 1
      const email = n % 2 ? `known-${1 + (n % LOGINS)}@example.com` : `flood-${n}@example.com`
      const { status } = await signIn(email, 'a wrong password')
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: FLOODERS }, one))
  return statuses
}

/** @returns the 99th percentile of other requests, in milliseconds */
async function measure(name: string, isFlooded: boolean): Promise<number> {
  const signal = AbortSignal.timeout(SECONDS * 1_000)
  const [took, statuses] = await Promise.all([
    useIt(signal),
    isFlooded ? flood(signal) : new Map<number, number>(),
  ])
  const sorted = ascending(took)
  const figures = [0.5, 0.95, 0.99, 1].map(share => ms(quantile(sorted, share))).join(' ')
  const logins = [...statuses]
    .map(([status, count]) => `${(count / SECONDS).toFixed(0)}/s of ${status}`)
    .join(', ')
  console.log(`  ${name.padEnd(18)} ${figures}   ${String(took.length).padStart(5)}   ${logins}`)
  return quantile(sorted, 0.99)
}

const isSame = await compare()
console.log(`\nOther requests (GET /api/v1/assets), ${SECONDS} s each, while ${FLOODERS} at a time sign in`)
console.log(
  `  ${''.padEnd(18)} ${['median', 'p95', 'p99', 'slowest'].map(name => name.padStart(12)).join(' ')}   count   sign-ins`,
)
const quietMs = await measure('without a flood', false)
const floodedMs = await measure('with a flood', true)
await measure('without again', false)
for (const down of downs.reverse()) await down()
const what = `other requests at p99 while ${FLOODERS} sign in, beside none`
printRows([{ what, ours: floodedMs, hand: quietMs, unit: 'ms' }])
process.exitCode = isSame ? 0 : 1
