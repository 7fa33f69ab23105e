import { useRef, useState } from 'preact/hooks'
import { Fields, Form } from '../../forms/fields.tsx'
import { useForm } from '../../forms/form.ts'
import type { FieldSpec } from '../../forms/schema.ts'
import { zoneField } from '../../forms/zone-field.ts'
import { formatNumber } from '../../lib/format.ts'
import { Icon } from '../../parts/icons.tsx'
import { scheduleTexts } from './texts.ts'
import { watchTexts } from '../../texts/watching.ts'
import { WeekGrid } from './week-grid.tsx'
import {
  countHours,
  findPeriodProblem,
  minutesOfPeriods,
  periodsOfMinutes,
  withHour,
  type Period,
} from './week-hours.ts'

export interface ScheduleBody {
  name: string
  timezone: string
  rules: Period[]
}

const MAX_PERIODS = 100
const OFFICE_HOURS: Period[] = [{ days: [1, 2, 3, 4, 5], start: '08:00', end: '18:00' }]

/** The form of an operating schedule: its name and zone, its hours as a grid and as times. */
export function ScheduleForm({
  id,
  record,
  save,
}: {
  /** Names the draft. */
  id: string
  record?: ScheduleBody
  save: (body: ScheduleBody) => Promise<unknown>
}) {
  const specs: FieldSpec[] = [
    { name: 'name', label: scheduleTexts.name, kind: 'text', isRequired: true, maxLength: 200 },
    zoneField(record?.timezone),
  ]
  const form = useForm(`operating schedule ${id}`, specs, record)
  const [periods, setPeriods] = useState<Period[]>(record?.rules ?? OFFICE_HOURS)
  const [problem, setProblem] = useState('')
  const minutes = minutesOfPeriods(periods)
  // A drag passes hours faster than the screen is rendered.
  const latest = useRef(periods)
  latest.current = periods
  const setHour = (day: number, hour: number, isActive: boolean) => {
    const wrong = latest.current.filter(findPeriodProblem)
    const next = withHour(minutesOfPeriods(latest.current), day, hour, isActive)
    latest.current = [...periodsOfMinutes(next), ...wrong]
    setPeriods(latest.current)
    setProblem('')
  }
  const submit = () => {
    const wrong = periods.findIndex(findPeriodProblem)
    const found =
      wrong >= 0
        ? ' '
        : periods.length === 0
          ? 'Choose at least one hour.'
          : periods.length > MAX_PERIODS
            ? `There may be at most ${MAX_PERIODS} periods: choose simpler hours.`
            : ''
    setProblem(found)
    if (found) {
      if (wrong >= 0) document.getElementById(`period-${wrong}`)?.querySelector('input')?.focus()
      return
    }
    void form.send(specs, () =>
      save({ name: String(form.values.name), timezone: String(form.values.timezone), rules: periods }),
    )
  }
  return (
    <Form form={form} submit={submit}>
      <Fields form={form} of={specs} />
      <h2>{scheduleTexts.hours}</h2>
      <p class="quiet">
        {scheduleTexts.gridHint}{' '}
        <strong>{scheduleTexts.activeHours(formatNumber(countHours(minutes)))}</strong>
      </p>
      <WeekGrid minutes={minutes} change={setHour} />
      <Periods periods={periods} change={setPeriods} />
      {problem.trim() && (
        <p class="bad" role="alert">
          {problem}
        </p>
      )}
    </Form>
  )
}

/** The hours as times, to the minute. */
export function Periods({
  periods,
  change,
  hint = scheduleTexts.periodsHint,
}: {
  periods: Period[]
  change: (periods: Period[]) => void
  hint?: string
}) {
  /** The period whose times are being written: it is not wrong yet. */
  const [typed, setTyped] = useState<number>()
  const set = (n: number, fields: Partial<Period>) =>
    change(periods.map((period, index) => (index === n ? { ...period, ...fields } : period)))
  return (
    <fieldset class="periods">
      <legend>{scheduleTexts.periods}</legend>
      <p class="note">{hint}</p>
      {periods.map((period, n) => {
        const problem = n === typed ? undefined : findPeriodProblem(period)
        const described = problem ? `period-${n}-problem` : undefined
        const time = (name: 'start' | 'end') => (
          <label>
            {scheduleTexts[name]}{' '}
            <input
              class="time"
              value={period[name]}
              maxlength={5}
              autocomplete="off"
              aria-describedby={described}
              aria-invalid={problem === (name === 'start' ? 'badStart' : 'badEnd') ? 'true' : undefined}
              onInput={(event: Event) => {
                setTyped(n)
                set(n, { [name]: (event.target as HTMLInputElement).value.trim() })
              }}
              onBlur={() => setTyped(undefined)}
            />
          </label>
        )
        return (
          <div key={n} id={`period-${n}`} class="period" role="group" aria-label={`Period ${n + 1}`}>
            <span class="days">
              {watchTexts.shortDays.map((name, day) => (
                <label key={name}>
                  <input
                    type="checkbox"
                    aria-label={watchTexts.days[day]}
                    checked={period.days.includes(day + 1)}
                    aria-describedby={described}
                    onChange={(event: Event) => {
                      const others = period.days.filter(each => each !== day + 1)
                      const isOn = (event.target as HTMLInputElement).checked
                      set(n, { days: isOn ? [...others, day + 1].sort((a, b) => a - b) : others })
                    }}
                  />
                  {name}
                </label>
              ))}
            </span>
            {time('start')} {time('end')}
            <button
              type="button"
              class="plain small"
              aria-label={scheduleTexts.removePeriod(n + 1)}
              title={scheduleTexts.removePeriod(n + 1)}
              onClick={() => change(periods.filter((_, index) => index !== n))}
            >
              <Icon name="close" />
            </button>
            {problem && (
              <span class="bad" id={described}>
                {scheduleTexts[problem]}
              </span>
            )}
          </div>
        )
      })}
      <p>
        <button
          type="button"
          onClick={() => change([...periods, { days: [1], start: '08:00', end: '18:00' }])}
        >
          Add a period
        </button>
      </p>
    </fieldset>
  )
}
