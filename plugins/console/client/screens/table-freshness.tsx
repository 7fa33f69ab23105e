import { useState } from 'preact/hooks'
import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { formatSpan, formatTime, zone } from '../lib/format.ts'
import { canWrite } from '../lib/session.ts'
import { Help } from '../parts/help.tsx'
import { lazy } from '../parts/lazy.tsx'
import { SeriesChart } from '../parts/series-chart.tsx'
import { loadFreshnessSeries, readHours, type PageRequest } from '../parts/series.ts'
import { Empty, Loaded } from '../parts/states.tsx'
import { FreshnessStatus } from '../parts/status.tsx'
import { WeekClock } from './schedule/week-clock.tsx'
import { texts } from '../texts.ts'
import { watchTexts } from '../texts/watching.ts'
import type { TabProps } from './props.ts'
import { pageTexts } from './table-page/texts.ts'
import { UpdateHistory } from './table-page/update-history.tsx'

const load = async (table: string, signal: AbortSignal) =>
  (
    await api.get('/api/v1/sdk/freshness/{asset_id}', {
      path: { asset_id: table },
      query: { clock_timezone: zone() },
      signal,
    })
  ).data
type Reply = Awaited<ReturnType<typeof load>>
/** The reply of a source lists its tables. */
type Freshness = Extract<Reply, { sla_threshold: unknown }>

const NewSchedule = lazy(async () => (await import('./freshness-form.tsx')).NewSchedule)
const EditSchedule = lazy(async () => (await import('./freshness-form.tsx')).EditSchedule)
const ScheduleActions = lazy(async () => (await import('./freshness-form.tsx')).ScheduleActions)

/** How old the newest data of a table is, and the schedule that watches it. */
export function FreshnessTab({ table, reload }: TabProps) {
  const [isEditing, setEditing] = useState(false)
  const [areAgesOpen, setAgesOpen] = useState(false)
  const isWatched = table.freshness.schedule_id !== null
  const asked = useData(
    isWatched ? `freshness of ${table.id} ${zone()}` : null,
    async signal => (await load(table.id, signal)) as Freshness,
  )
  const changed = () => {
    if (isWatched) asked.reload()
    reload()
  }
  const saved = () => {
    setEditing(false)
    changed()
  }
  if (!isWatched)
    return (
      <>
        <Empty title="No freshness schedule watches this table">
          {!canWrite() && (
            <p>
              <a class="button primary" href="/guide/freshness#watch-a-table">
                How to watch freshness
              </a>
            </p>
          )}
        </Empty>
        {canWrite() && <NewSchedule table={table} saved={saved} />}
      </>
    )
  if (isEditing) return <EditSchedule table={table} saved={saved} close={() => setEditing(false)} />
  return (
    <Loaded of={asked} what={texts.freshness.toLowerCase()} rows={8}>
      {(found: Freshness) => (
        <>
          <ScheduleActions
            source={table.source}
            id={found.schedule_id}
            isActive={found.is_active}
            saved={changed}
            edit={() => setEditing(true)}
          />
          {!found.is_active && <p class="quiet">Its schedule is paused.</p>}
          <dl class="facts">
            <div>
              <dt>{texts.status}</dt>
              <dd>
                <FreshnessStatus of={found} />
              </dd>
            </div>
            <div>
              <dt>{texts.lastUpdate}</dt>
              <dd>
                {formatTime(found.last_updated)}
                {found.data_age_minutes !== null && <> ({formatSpan(found.data_age_minutes * 60)})</>}
              </dd>
            </div>
            <div>
              <dt>
                {texts.threshold}
                <Help page="freshness#how-it-is-judged" about={texts.threshold} />
              </dt>
              <dd>{found.sla_threshold ?? '–'}</dd>
            </div>
            <div>
              <dt>Next update expected</dt>
              <dd>{formatTime(found.expected_next_update)}</dd>
            </div>
            <div>
              <dt>{texts.column}</dt>
              <dd>
                <code>{found.timestamp_column ?? found.signal}</code>
              </dd>
            </div>
            <div>
              <dt>{texts.checkedAt}</dt>
              <dd>{formatTime(found.checked_at)}</dd>
            </div>
          </dl>
          {found.error_message && <p class="bad">{found.error_message}</p>}
          {found.note && <p class="quiet">{found.note}.</p>}
          <UpdateHistory tableId={table.id} checkedAt={found.checked_at} threshold={found.sla_threshold} />
          {found.update_clock && (
            <section>
              <h2>
                {watchTexts.clock}
                <Help page="freshness#when-updates-arrive" about={watchTexts.clock} />
              </h2>
              <WeekClock clock={found.update_clock} />
            </section>
          )}
          <details
            class="ages"
            onToggle={(event: Event) => setAgesOpen((event.currentTarget as HTMLDetailsElement).open)}
          >
            <summary>{pageTexts.ages}</summary>
            {areAgesOpen && (
              <SeriesChart
                table={table.id}
                id={`freshness ${table.id} ${found.checked_at}`}
                title={texts.ageOverTime}
                unit="h"
                threshold={readHours(found.sla_threshold)}
                load={(page: PageRequest) => loadFreshnessSeries(table.id, page)}
              />
            )}
          </details>
        </>
      )}
    </Loaded>
  )
}
