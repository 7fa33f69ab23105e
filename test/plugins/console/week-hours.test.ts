import t from 'tap'
import {
  cellState,
  countHours,
  findPeriodProblem,
  minutesOfPeriods,
  periodsOfMinutes,
  withHour,
} from '../../../plugins/console/client/screens/schedule/week-hours.ts'

t.test('periods survive the way over minutes', t => {
  for (const periods of [
    [{ days: [1, 2, 3, 4, 5], start: '08:30', end: '18:00' }],
    [{ days: [6], start: '22:00', end: '02:00' }],
    [{ days: [7], start: '22:00', end: '06:00' }],
    [{ days: [3], start: '08:00', end: '08:00' }],
    [{ days: [1, 2, 3, 4, 5, 6, 7], start: '00:00', end: '24:00' }],
  ])
    t.same(periodsOfMinutes(minutesOfPeriods(periods)), periods)
  t.end()
})

t.test('hours are switched without touching others', t => {
  const office = minutesOfPeriods([{ days: [1], start: '08:30', end: '10:00' }])
  t.equal(cellState(office, 0, 8), 'some')
  t.equal(cellState(office, 0, 9), 'all')
  t.equal(cellState(office, 0, 10), 'none')
  t.equal(countHours(withHour(office, 0, 9, false)), 0.5)
  t.same(periodsOfMinutes(withHour(office, 6, 23, true)), [
    { days: [1], start: '08:30', end: '10:00' },
    { days: [7], start: '23:00', end: '24:00' },
  ])
  t.equal(findPeriodProblem({ days: [], start: '08:00', end: '09:00' }), 'noDays')
  t.equal(findPeriodProblem({ days: [1], start: '24:00', end: '09:00' }), 'badStart')
  t.equal(findPeriodProblem({ days: [1], start: '08:00', end: '25:00' }), 'badEnd')
  t.end()
})
