import { useEffect, useRef, useState } from 'preact/hooks'
import { hourName } from './week-clock.tsx'
import { scheduleTexts } from './texts.ts'
import { watchTexts } from '../../texts/watching.ts'
import { cellState, type WeekMinutes } from './week-hours.ts'

const HOURS = Array.from({ length: 24 }, (_, hour) => hour)
const STEPS: Record<string, [days: number, hours: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

const clamp = (value: number, most: number) => Math.min(most, Math.max(0, value))

/**
 * The hours of a week as a grid of days and hours, which are switched by click, by drag and with the keyboard.
 * @param props.change switches an hour; without it the grid is for reading
 */
export function WeekGrid({
  minutes,
  change,
}: {
  minutes: WeekMinutes
  change?: (day: number, hour: number, isActive: boolean) => void
}) {
  const [[day, hour], setPlace] = useState<[number, number]>([0, 8])
  const body = useRef<HTMLDivElement>(null)
  /** What a drag switches hours to; undefined while there is none. */
  const painted = useRef<boolean | undefined>(undefined)
  /** Whether the pointer has switched the hour already that is clicked. */
  const isHandled = useRef(false)
  useEffect(() => {
    const end = () => {
      painted.current = undefined
      // The click follows; a drag that ends elsewhere has none.
      setTimeout(() => (isHandled.current = false))
    }
    addEventListener('pointerup', end)
    return () => removeEventListener('pointerup', end)
  }, [])
  const isOn = (d: number, h: number) => cellState(minutes, d, h) === 'all'
  const focus = (d: number, h: number) => {
    setPlace([d, h])
    body.current?.querySelector<HTMLElement>(`[data-cell="${d}-${h}"]`)?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    if (event.key === ' ' || event.key === 'Enter') {
      event.preventDefault()
      change?.(day, hour, !isOn(day, hour))
    } else if (step || event.key === 'Home' || event.key === 'End') {
      event.preventDefault()
      const next: [number, number] = step
        ? [clamp(day + step[0], 6), clamp(hour + step[1], 23)]
        : [event.key === 'Home' ? 0 : 6, hour]
      // What the hour is, the next becomes.
      if (event.shiftKey) change?.(...next, isOn(day, hour))
      focus(...next)
    }
  }
  const onPointerDown = (event: PointerEvent, d: number, h: number) => {
    // A finger scrolls; its tap is a click.
    if (event.pointerType === 'touch' || event.button !== 0) return
    painted.current = !isOn(d, h)
    isHandled.current = true
    setPlace([d, h])
    change?.(d, h, painted.current)
  }
  const onClick = (d: number, h: number) => {
    if (!isHandled.current) change?.(d, h, !isOn(d, h))
    setPlace([d, h])
  }
  return (
    <div
      ref={body}
      class="week-grid"
      role="grid"
      aria-label="Active hours of the week"
      aria-multiselectable="true"
      aria-readonly={change ? undefined : 'true'}
      onKeyDown={onKeyDown}
    >
      <div role="row">
        <span role="columnheader">
          <span class="hidden">{watchTexts.hour}</span>
        </span>
        {watchTexts.shortDays.map((name, n) => (
          <span key={name} role="columnheader">
            <abbr title={watchTexts.days[n]}>{name}</abbr>
          </span>
        ))}
      </div>
      {HOURS.map(h => (
        <div key={h} role="row">
          <span role="rowheader">{hourName(h)}</span>
          {watchTexts.days.map((name, d) => {
            const state = cellState(minutes, d, h)
            return (
              <span
                key={d}
                role="gridcell"
                class={state}
                data-cell={`${d}-${h}`}
                tabindex={d === day && h === hour ? 0 : -1}
                aria-selected={state === 'all'}
                aria-label={`${name} ${hourName(h)}, ${scheduleTexts.states[state]}`}
                onPointerDown={(event: PointerEvent) => onPointerDown(event, d, h)}
                onPointerEnter={() => painted.current !== undefined && change?.(d, h, painted.current)}
                onFocus={() => setPlace([d, h])}
                onClick={() => onClick(d, h)}
              />
            )
          })}
        </div>
      ))}
    </div>
  )
}
