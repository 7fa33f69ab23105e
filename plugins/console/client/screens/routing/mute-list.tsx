import type { MuteWindow } from 'tidemark/client'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { countOf, formatTime } from '../../lib/format.ts'
import { useQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { useSession } from '../../parts/frame.tsx'
import { notify } from '../../parts/notices.tsx'
import { pageSizeOf, Paging, readOffset, type PageOfList } from '../../parts/paging.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { texts } from '../../texts.ts'
import { watchTexts } from '../../texts/watching.ts'
import { muteAddress } from './addresses.ts'
import { ListPage } from './list-page.tsx'
import { pauseColumn } from './pause-button.tsx'
import { routingTexts } from './texts.ts'

interface MuteListContent {
  windows: readonly MuteWindow[]
  page: PageOfList
}

/** All mute windows: when each is open, and which alerts it holds back. */
export function MuteList() {
  const [query] = useQuery()
  const offset = readOffset(query)
  const limit = pageSizeOf(useSession().preferences)
  const asked = useData<MuteListContent>(`mute windows ${limit} ${offset}`, async signal => {
    const { data } = await api.get('/api/v1/sdk/alerts/mute-windows', { query: { limit, offset }, signal })
    return { windows: data.mute_windows, page: data.pagination }
  })
  const total = asked.data?.page.total ?? 0
  return (
    <ListPage
      tab="mute"
      name={routingTexts.muteWindows}
      help="alerts#mute-windows"
      counted={total > 0 ? countOf(total, 'mute window') : null}
      add={<AddButton />}
    >
      <Loaded of={asked} what={routingTexts.muteWindows.toLowerCase()} rows={4}>
        {({ windows, page }: MuteListContent) =>
          page.total === 0 ? (
            <Empty title="There are no mute windows">
              <p>
                While one is open, such as for maintenance, no message is sent. When it closes, what is still
                open is sent.
              </p>
              {canWrite() && (
                <p>
                  <AddButton />
                </p>
              )}
            </Empty>
          ) : (
            <>
              <MuteTable windows={windows} reload={asked.reload} />
              <Paging pagination={page} />
            </>
          )
        }
      </Loaded>
    </ListPage>
  )
}

const AddButton = () => (
  <a class="button primary" href={muteAddress('new')}>
    {routingTexts.addMuteWindow}
  </a>
)

function MuteTable({ windows, reload }: { windows: readonly MuteWindow[]; reload: () => void }) {
  const columns: (Column<MuteWindow> | false)[] = [
    {
      label: texts.name,
      isName: true,
      cell: ({ id, name }) => (
        <a href={muteAddress(id)}>
          <bdi>{name}</bdi>
        </a>
      ),
    },
    { label: texts.status, cellClass: 'state', cell: window => <MuteStatus window={window} /> },
    { label: routingTexts.openAt, cellClass: 'wraps', cell: describeTimes },
    { label: routingTexts.mutes, cellClass: 'wraps', cell: describeScope },
    pauseColumn(
      (id, isActive) =>
        api.patch('/api/v1/sdk/alerts/mute-windows/{id}', { path: { id }, body: { is_active: isActive } }),
      isActive => {
        notify(isActive ? 'The mute window applies again.' : 'Messages are sent despite the mute window.')
        reload()
      },
    ),
  ]
  return (
    <DataTable
      label={routingTexts.muteWindows}
      className="rules stacked two-line"
      columns={columns}
      rows={windows}
    />
  )
}

function MuteStatus({
  window: { is_active: isActive, muted_until: until, ends_at: endsAt },
}: {
  window: MuteWindow
}) {
  if (until) return <Status status="warning" word={texts.until(formatTime(until))} />
  const isOver = endsAt !== null && Date.parse(endsAt) <= Date.now()
  const word = isOver ? routingTexts.isOver : isActive ? routingTexts.isClosed : routingTexts.paused
  return <Status status="unknown" word={word} />
}

/** When a window is open, in words: `Mon, Tue 22:00–06:00, Europe/Berlin`. */
function describeTimes({ rules, timezone, starts_at: startsAt, ends_at: endsAt }: MuteWindow): string {
  if (!rules) return `${formatTime(startsAt!)} – ${formatTime(endsAt!)}`
  const hours = rules.map(({ days, start, end }) => {
    const names = days.map(day => watchTexts.shortDays[day - 1]).join(', ')
    return `${days.length === 7 ? 'every day' : names} ${start}–${end}`
  })
  return `${hours.join('; ')}, ${timezone}`
}

function describeScope({ asset_ids: assets, schemas, tags }: MuteWindow): string {
  const parts = [
    assets && routingTexts.inAssets(assets.length),
    schemas && `in ${schemas.join(' or ')}`,
    tags && `tagged ${tags.join(' or ')}`,
  ].filter(Boolean)
  return parts.length > 0 ? parts.join('; ') : 'all alerts'
}
