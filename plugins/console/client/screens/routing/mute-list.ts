import type { MuteWindow } from 'tidemark/client'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { countOf, formatTime } from '../../lib/format.ts'
import { html } from '../../lib/html.ts'
import { useQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { useSession } from '../../parts/frame.ts'
import { notify } from '../../parts/notices.ts'
import { pageSizeOf, Paging, readOffset, type PageOfList } from '../../parts/paging.ts'
import { Empty, Loaded } from '../../parts/states.ts'
import { Status } from '../../parts/status.ts'
import { DataTable, type Column } from '../../parts/table/data-table.ts'
import { texts } from '../../texts.ts'
import { watchTexts } from '../../texts/watching.ts'
import { muteAddress } from './addresses.ts'
import { ListPage } from './list-page.ts'
import { pauseColumn } from './pause-button.ts'
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
  return html`<${ListPage}
    tab="mute"
    name=${routingTexts.muteWindows}
    help="alerts#mute-windows"
    counted=${total > 0 ? countOf(total, 'mute window') : null}
    add=${html`<${AddButton} />`}
  >
    <${Loaded} of=${asked} what=${routingTexts.muteWindows.toLowerCase()} rows=${4}>
      ${({ windows, page }: MuteListContent) =>
        page.total === 0
          ? html`<${Empty} title="There are no mute windows">
              <p>
                While one is open, such as for maintenance, no message is sent. When it closes, what is still
                open is sent.
              </p>
              ${canWrite() && html`<p><${AddButton} /></p>`}
            <//>`
          : html`<${MuteTable} windows=${windows} reload=${asked.reload} /><${Paging} pagination=${page} />`}
    <//>
  <//>`
}

const AddButton = () =>
  html`<a class="button primary" href=${muteAddress('new')}>${routingTexts.addMuteWindow}</a>`

function MuteTable({ windows, reload }: { windows: readonly MuteWindow[]; reload: () => void }) {
  const columns: (Column<MuteWindow> | false)[] = [
    {
      label: texts.name,
      isName: true,
      cell: ({ id, name }) => html`<a href=${muteAddress(id)}><bdi>${name}</bdi></a>`,
    },
    { label: texts.status, cell: window => html`<${MuteStatus} window=${window} />` },
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
  return html`<${DataTable}
    label=${routingTexts.muteWindows}
    className="rules"
    columns=${columns}
    rows=${windows}
  />`
}

function MuteStatus({
  window: { is_active: isActive, muted_until: until, ends_at: endsAt },
}: {
  window: MuteWindow
}) {
  if (until) return html`<${Status} status="warning" word=${texts.until(formatTime(until))} />`
  const isOver = endsAt !== null && Date.parse(endsAt) <= Date.now()
  const word = isOver ? routingTexts.isOver : isActive ? routingTexts.isClosed : routingTexts.paused
  return html`<${Status} status="unknown" word=${word} />`
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
