import { useState } from 'preact/hooks'
import type { OperatingSchedule } from 'tidemark/client'
import { api, isMissing } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { formatNumber } from '../lib/format.ts'
import { navigate, tableAddress, useQuery } from '../lib/router.ts'
import { canWrite } from '../lib/session.ts'
import { DataTable, type Column } from '../parts/table/data-table.tsx'
import { ConfirmDialog } from '../parts/confirm.tsx'
import { useTitle } from '../parts/frame.tsx'
import { Help } from '../parts/help.tsx'
import { notify } from '../parts/notices.tsx'
import { readOffset, type PageOfList } from '../parts/paging.tsx'
import { Empty, Loaded, MissingPage } from '../parts/states.tsx'
import { scheduleTexts } from './schedule/texts.ts'
import type { ScreenProps } from './props.ts'
import { ScheduleForm, type ScheduleBody } from './schedule/schedule-form.tsx'
import { WeekGrid } from './schedule/week-grid.tsx'
import { countHours, minutesOfPeriods } from './schedule/week-hours.ts'

const LIST_LIMIT = 50
const BASE = '/schedules'

/** When tables are meant to be active: all operating schedules, or one of them. */
export function Schedules({ name: id }: ScreenProps) {
  const [query] = useQuery()
  useTitle(scheduleTexts.title)
  if (id) return <SchedulePage key={id} id={id} />
  return query.has('add') && canWrite() ? <NewSchedule /> : <ScheduleList />
}

const COLUMNS: Column<OperatingSchedule>[] = [
  {
    label: scheduleTexts.name,
    isName: true,
    cell: ({ id, name }) => (
      <a href={`${BASE}/${id}`}>
        <bdi>{name}</bdi>
      </a>
    ),
  },
  { label: scheduleTexts.zone, cell: schedule => schedule.timezone },
  {
    label: scheduleTexts.hours,
    className: 'right',
    cell: schedule => formatNumber(countHours(minutesOfPeriods(schedule.rules))),
  },
]

function ScheduleList() {
  const [query] = useQuery()
  const offset = readOffset(query)
  const asked = useData(`operating schedules ${offset}`, signal =>
    api.get('/api/v1/operating-schedules', { query: { limit: LIST_LIMIT, offset }, signal }),
  )
  const add = canWrite() && (
    <a class="button primary" href={`${BASE}?add=1`}>
      {scheduleTexts.add}
    </a>
  )
  return (
    <div class="page">
      <Loaded of={asked} what={scheduleTexts.title.toLowerCase()} rows={6}>
        {({ data, pagination }: { data: OperatingSchedule[]; pagination: PageOfList }) =>
          pagination.total === 0 ? (
            <Empty title="There is no operating schedule" isScreen={true}>
              <p>{scheduleTexts.about}</p>
              {add}
            </Empty>
          ) : (
            <>
              <div class="headline">
                <h1>
                  {scheduleTexts.summary(pagination.total)}
                  <Help page="checks#operating-schedules" about={scheduleTexts.title} />
                </h1>
                {add}
              </div>
              <p class="quiet">{scheduleTexts.about}</p>
              <DataTable
                className="stacked two-line"
                label={scheduleTexts.title}
                columns={COLUMNS}
                rows={data}
                paging={pagination}
              />
            </>
          )
        }
      </Loaded>
    </div>
  )
}

const Path = () => (
  <p class="path">
    <a href={BASE}>{scheduleTexts.title}</a>
  </p>
)

function NewSchedule() {
  const save = async (body: ScheduleBody) => {
    await api.post('/api/v1/operating-schedules', { body })
    notify(scheduleTexts.saved)
    navigate(BASE)
  }
  return (
    <div class="page">
      <Path />
      <h1>{scheduleTexts.add}</h1>
      <ScheduleForm id="new" save={save} />
    </div>
  )
}

const loadUses = async (id: string, signal: AbortSignal) =>
  (await api.get('/api/v1/operating-schedules/{schedule_id}/uses', { path: { schedule_id: id }, signal }))
    .data.uses
type Uses = Awaited<ReturnType<typeof loadUses>>

function SchedulePage({ id }: { id: string }) {
  const path = { schedule_id: id }
  const asked = useData(`operating schedule ${id}`, signal =>
    api.get('/api/v1/operating-schedules/{schedule_id}', { path, signal }),
  )
  const uses = useData(`uses of ${id}`, signal => loadUses(id, signal))
  if (isMissing(asked.error))
    return <MissingPage title="This schedule does not exist" href={BASE} back="All schedules" />
  const save = async (body: ScheduleBody) => {
    await api.patch('/api/v1/operating-schedules/{schedule_id}', { path, body })
    notify(scheduleTexts.saved)
    asked.reload()
  }
  return (
    <div class="page">
      <Path />
      <Loaded of={asked} what={scheduleTexts.title.toLowerCase()} rows={8}>
        {(schedule: OperatingSchedule) => (
          <>
            <h1>
              <bdi>{schedule.name}</bdi>
            </h1>
            <div class="with-side">
              {canWrite() ? (
                <ScheduleForm key={schedule.updated_at} id={id} record={schedule} save={save} />
              ) : (
                <div>
                  <p class="quiet">Only members, admins and owners change schedules.</p>
                  <p>
                    {scheduleTexts.zone}: {schedule.timezone}
                  </p>
                  <WeekGrid minutes={minutesOfPeriods(schedule.rules)} />
                </div>
              )}
              <section class="side" aria-label={scheduleTexts.uses}>
                <h2>{scheduleTexts.uses}</h2>
                <Loaded of={uses} what={scheduleTexts.uses.toLowerCase()} rows={2}>
                  {(found: Uses) => <UseList uses={found} />}
                </Loaded>
              </section>
            </div>
            {canWrite() && <Removal schedule={schedule} />}
          </>
        )}
      </Loaded>
    </div>
  )
}

function UseList({ uses }: { uses: Uses }) {
  const used = uses.filter(({ count }) => count > 0)
  if (used.length === 0) return <p class="quiet">Nothing uses it.</p>
  return used.map(({ kind, count, items }) => (
    <>
      <p key={kind}>
        <strong>{count === 1 ? `1 ${kind.replace(/s$/, '')}` : `${count} ${kind}`}</strong>
      </p>
      <ul class="names">
        {items.map(({ id, name, asset }) => (
          <li key={id}>
            <bdi>{name}</bdi>{' '}
            <a href={tableAddress(asset)}>
              <code>{asset}</code>
            </a>
          </li>
        ))}
      </ul>
    </>
  ))
}

function Removal({ schedule }: { schedule: OperatingSchedule }) {
  const [isOpen, setOpen] = useState(false)
  const remove = async () => {
    await api.delete('/api/v1/operating-schedules/{schedule_id}', { path: { schedule_id: schedule.id } })
    notify(`The operating schedule ${schedule.name} was deleted.`)
    navigate(BASE)
  }
  return (
    <>
      <p class="danger">
        <button class="bad" onClick={() => setOpen(true)}>
          {scheduleTexts.remove}
        </button>
      </p>
      {isOpen && (
        <ConfirmDialog
          title={scheduleTexts.remove}
          action={scheduleTexts.remove}
          work={remove}
          close={() => setOpen(false)}
        >
          <p>{scheduleTexts.removeText(schedule.name)}</p>
        </ConfirmDialog>
      )}
    </>
  )
}
