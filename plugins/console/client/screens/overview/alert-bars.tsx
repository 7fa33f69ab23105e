import { formatDay, formatNumber, startOfDay } from '../../lib/format.ts'
import { Help } from '../../parts/help.tsx'
import { alertsAddress, ANY_DIMENSION, DIMENSIONS, type OverviewData } from './data.ts'
import { overviewTexts as texts } from './texts.ts'

type Day = OverviewData['trend'][number]

const totalOf = ({ opened }: Day) => DIMENSIONS.reduce((sum, name) => sum + opened[name], 0)

/** Alerts opened on each day, stacked by what they are about; a day leads to its alerts. */
export function AlertBars({ overview, source }: { overview: OverviewData; source?: string }) {
  const { trend } = overview
  const most = Math.max(...trend.map(totalOf))
  const span = { tab: 'all', since: trend[0] ? startOfDay(trend[0].date).toISOString() : null }
  const shown = DIMENSIONS.filter(name => trend.some(({ opened }) => opened[name] > 0))
  return (
    <section>
      <div class="section-head">
        <h2>
          {texts.trend}
          <Help page="coverage#overview-and-quality-score" about={texts.trend} />
        </h2>
        {most > 0 && <span class="quiet">{texts.mostOfDay(most)}</span>}
      </div>
      <figure class="alert-bars">
        {most === 0 ? (
          <p class="quiet">{texts.noAlerts}</p>
        ) : (
          <ol>
            {trend.map(day => (
              <DayBar key={day.date} day={day} most={most} source={source} />
            ))}
          </ol>
        )}
        <p class="ends" aria-hidden="true">
          <span>{trend[0] && formatDay(startOfDay(trend[0].date))}</span>
          <span>{trend.at(-1) && formatDay(startOfDay(trend.at(-1)!.date))}</span>
        </p>
        <figcaption>
          {shown.map(name => (
            <a key={name} href={alertsAddress({ ...span, dimension: name, table: source ?? null })}>
              <svg class={`swatch ${name}`} viewBox="0 0 10 10" aria-hidden="true">
                <rect width="10" height="10" />
              </svg>
              {texts.dimensions[name]}
              <span class="quiet">
                {formatNumber(trend.reduce((sum, { opened }) => sum + opened[name], 0))}
              </span>
            </a>
          ))}
        </figcaption>
      </figure>
    </section>
  )
}

function DayBar({ day, most, source }: { day: Day; most: number; source: string | undefined }) {
  const total = totalOf(day)
  if (total === 0) return <li />
  const parts = DIMENSIONS.filter(name => day.opened[name] > 0)
  const words = parts.map(name => `${day.opened[name]} ${texts.dimensions[name].toLowerCase()}`).join(', ')
  const label = texts.dayOf(formatDay(startOfDay(day.date)), words)
  const address = alertsAddress({
    tab: 'all',
    dimension: ANY_DIMENSION,
    since: startOfDay(day.date).toISOString(),
    until: startOfDay(day.date, 1).toISOString(),
    table: source ?? null,
  })
  let top = 100
  return (
    <li>
      <a href={address} aria-label={label} title={label}>
        <svg viewBox="0 0 10 100" preserveAspectRatio="none" aria-hidden="true">
          {parts.map(name => {
            const height = (100 * day.opened[name]) / most
            top -= height
            return <rect key={name} class={name} x="0" y={top} width="10" height={height} />
          })}
        </svg>
      </a>
    </li>
  )
}
