import fc from 'fast-check'
import t from 'tap'
import { learnCadence } from '../../checks/cadence.ts'

const MINUTE = 60
const HOUR = 3600
const DAY = 24 * HOUR
/** Monday, 2023-11-20, 00:00 UTC. */
const MONDAY = 1_700_438_400

/** A generator of uniform numbers (Lehmer), the same for the same seed. */
function uniform(seed: number): () => number {
  let state = (seed * 48_271 + 1) % 2_147_483_647
  const next = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  for (let i = 0; i < 5; i++) next()
  return next
}

/** Moments `step` seconds apart from a Monday on, where `isOpen` says of day (0 = Monday) and hour that updates come. */
const every = (step: number, n: number, isOpen: (day: number, hour: number) => boolean = () => true) =>
  Array.from({ length: n }, (_, i) => MONDAY + i * step).filter(at =>
    isOpen(Math.floor((at - MONDAY) / DAY) % 7, Math.floor(at / HOUR) % 24),
  )

/** What is learned of the updates before a moment, and the last one of them. */
function upTo(updates: readonly number[], moment: number) {
  const before = updates.filter(at => at < moment)
  return { ...learnCadence(before)!, last: before[before.length - 1]! }
}

const updates = fc
  .array(fc.integer({ min: 1, max: 3 * DAY }), { minLength: 7, maxLength: 60 })
  .map(gaps => gaps.reduce((times, gap) => [...times, times[times.length - 1]! + gap], [MONDAY]))

t.test('the cadence of updates: null before 7, then the usual gap and a deadline beyond it', async t => {
  const daily = Array.from({ length: 40 }, (_, i) => MONDAY + i * DAY + (i % 3) * 60)
  t.equal(learnCadence(daily.slice(0, 6)), null)
  const cadence = learnCadence(daily)!
  const due = daily[39]! + DAY
  t.ok(Math.abs(cadence.expectedNext - due) < 600)
  t.ok(cadence.deadline > cadence.expectedNext && cadence.deadline < due + DAY / 2)
  t.ok(Math.abs(cadence.typicalGapSeconds - DAY) < 300)
})

t.test('a deadline is a moment after the usual one, later for a higher sensitivity', async t => {
  fc.assert(
    fc.property(updates, times => {
      const last = times[times.length - 1]!
      const [narrow, usual, wide] = [1, 3, 4].map(sensitivity => learnCadence(times, sensitivity)!)
      t.ok(Number.isFinite(wide!.deadline))
      t.ok(last < usual!.expectedNext && usual!.expectedNext <= narrow!.deadline)
      t.ok(narrow!.deadline <= usual!.deadline && usual!.deadline <= wide!.deadline)
    }),
  )
})

t.test('updates that come twice, in any order or at no real time change nothing', async t => {
  fc.assert(
    fc.property(updates, fc.infiniteStream(fc.nat()), (times, picks) => {
      const mixed = [...times, ...times.slice(0, 5), NaN, Infinity, 1e300]
        .map(at => ({ at, key: picks.next().value as number }))
        .sort((a, b) => a.key - b.key)
        .map(({ at }) => at)
      t.same(learnCadence(mixed), learnCadence(times))
    }),
  )
  t.equal(learnCadence(Array<number>(20).fill(MONDAY)), null, 'one update listed twenty times is one')
})

t.test('a table known for a day, whose hours do not scatter, has a deadline', async t => {
  const gaps = [HOUR, DAY, HOUR, 1, 1, 1]
  const first = -MONDAY + 1
  const times = gaps.reduce((all, gap) => [...all, all[all.length - 1]! + gap], [first])
  const cadence = learnCadence(times, 0.5)!
  t.ok(cadence.deadline >= cadence.expectedNext, `${cadence.deadline}`)
})

t.test('one update decades ago does not move the deadline of a table', async t => {
  const times = every(HOUR, 200)
  t.equal(learnCadence([0, ...times])!.deadline, learnCadence(times)!.deadline)
})

t.test('a table that rests at the weekend is not late on a Sunday', async t => {
  const weekdays = Array.from({ length: 42 }, (_, i) => MONDAY + i * DAY).filter((_, i) => i % 7 < 5)
  const friday = learnCadence(weekdays)!
  t.equal(friday.expectedNext, MONDAY + 42 * DAY)
  t.ok(friday.deadline > MONDAY + 42 * DAY && friday.deadline < MONDAY + 43 * DAY)
})

t.test('a table that rests at night is not late at night, and late soon by day', async t => {
  const times = every(15 * MINUTE, 14 * 96, (_, hour) => hour >= 8 && hour < 20)
  const evening = learnCadence(times)!
  t.ok(evening.deadline > times[times.length - 1]! + 12 * HOUR)
  const noon = upTo(times, MONDAY + 13 * DAY + 12 * HOUR)
  t.ok(noon.deadline < noon.last + HOUR)
})

t.test('one night teaches when a table rests, and nights of rest that the weekend may be one', async t => {
  const office = (day: number, hour: number) => day < 5 && hour >= 8 && hour < 18
  const times = every(30 * MINUTE, 21 * 48, office)
  const firstEvening = upTo(times, MONDAY + 20 * HOUR)
  t.ok(firstEvening.deadline > MONDAY + DAY + 8 * HOUR, 'on the first day the rest hours are unknown')
  const secondMorning = upTo(times, MONDAY + DAY + 11 * HOUR)
  t.ok(secondMorning.deadline < secondMorning.last + 2 * HOUR, 'the second day is judged')
  const secondEvening = upTo(times, MONDAY + DAY + 20 * HOUR)
  t.ok(secondEvening.deadline > MONDAY + 2 * DAY + 8 * HOUR)
  t.ok(secondEvening.deadline < MONDAY + 2 * DAY + 15 * HOUR, 'after one night with room to spare')
  const thirdEvening = upTo(times, MONDAY + 2 * DAY + 20 * HOUR)
  t.ok(thirdEvening.deadline < MONDAY + 3 * DAY + 9 * HOUR, 'after two without')
  const firstFriday = upTo(times, MONDAY + 4 * DAY + 20 * HOUR)
  t.ok(firstFriday.deadline > MONDAY + 7 * DAY + 8 * HOUR)
  t.ok(firstFriday.deadline < MONDAY + 7 * DAY + 10 * HOUR)
})

t.test('a table that slows down at night has more time at night', async t => {
  const random = uniform(3)
  const times: number[] = []
  for (let at = MONDAY; at < MONDAY + 6 * DAY;) {
    times.push(at)
    const isNight = Math.floor(at / HOUR) % 24 < 6
    at += (isNight ? 90 : 15) * MINUTE * (0.8 + 0.4 * random())
  }
  const night = upTo(times, MONDAY + 5 * DAY + 3 * HOUR)
  t.ok(night.deadline > night.last + 2 * HOUR && night.deadline < night.last + 6 * HOUR)
  const noon = upTo(times, MONDAY + 5 * DAY + 12 * HOUR)
  t.ok(noon.deadline > noon.last + 18 * MINUTE && noon.deadline < noon.last + 45 * MINUTE)
})

t.test('updates at random moments are late only after a gap that chance hardly makes', async t => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const random = uniform(seed)
    const times = [MONDAY]
    for (let i = 0; i < 300; i++) times.push(times[i]! - 4 * HOUR * Math.log(random()))
    let late = 0
    for (let i = 60; i < 300; i++) if (times[i]! > learnCadence(times.slice(0, i))!.deadline) late++
    t.ok(late <= 5, `${late} of 240`)
    const { deadline } = learnCadence(times)!
    t.ok(deadline < times[300]! + 40 * HOUR, 'and the deadline is no more than ten times the mean gap')
  }
})

t.test('late updates in the past do not make the next one wait longer', async t => {
  const punctual = every(HOUR, 200)
  const sometimesLate = punctual.filter((_, i) => i < 40 || i % 41 > 2)
  const [usual, forgiving] = [learnCadence(punctual)!, learnCadence(sometimesLate)!]
  t.ok(
    forgiving.deadline - sometimesLate[sometimesLate.length - 1]! < 1.2 * (usual.deadline - punctual[199]!),
  )
})

t.test('a larger sensitivity never brings a deadline forward', async t => {
  const gaps = Array.from({ length: 40 }, (_, i) => (i % 4 === 3 ? 7_192 : 3_600))
  for (let length = 8; length <= gaps.length; length++) {
    let at = 1_700_438_400
    const times = [at, ...gaps.slice(0, length).map(gap => (at += gap))]
    const deadlines = [1, 3, 7.3, 12.3].map(sensitivity => learnCadence(times, sensitivity)!.deadline)
    t.same(
      deadlines,
      deadlines.toSorted((a, b) => a - b),
      `after ${length} gaps`,
    )
  }
})
