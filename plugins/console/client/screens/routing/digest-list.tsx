import type { Destination, Digest } from 'tidemark/client'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { countOf, formatTime } from '../../lib/format.ts'
import { useQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { useSession } from '../../parts/frame.tsx'
import { notify } from '../../parts/notices.tsx'
import { pageSizeOf, Paging, readOffset } from '../../parts/paging.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { texts } from '../../texts.ts'
import { watchTexts } from '../../texts/watching.ts'
import { destinationAddress, digestAddress } from './addresses.ts'
import { digestTexts } from './digest-texts.ts'
import { ListPage } from './list-page.tsx'
import { ActiveStatus, pauseColumn } from './pause-button.tsx'
import { routingTexts } from './texts.ts'

async function loadDigests(limit: number, offset: number, signal: AbortSignal) {
  const [list, destinations] = await Promise.all([
    api.get('/api/v1/sdk/alerts/digests', { query: { limit, offset }, signal }),
    api.get('/api/v1/sdk/alerts/destinations', { query: { limit: 100 }, signal }),
  ])
  return { ...list.data, destinations: destinations.data.destinations }
}
type DigestListContent = Awaited<ReturnType<typeof loadDigests>>

/** All digests: when each is sent, and to whom. */
export function DigestList() {
  const [query] = useQuery()
  const offset = readOffset(query)
  const limit = pageSizeOf(useSession().preferences)
  const asked = useData(`digests ${limit} ${offset}`, signal => loadDigests(limit, offset, signal))
  const total = asked.data?.pagination.total ?? 0
  return (
    <ListPage
      tab="digests"
      name={digestTexts.digests}
      help="alerts#digests"
      counted={total > 0 ? countOf(total, 'digest') : null}
      add={<AddButton />}
    >
      <Loaded of={asked} what={digestTexts.digests.toLowerCase()} rows={4}>
        {({ digests, destinations, pagination }: DigestListContent) =>
          pagination.total === 0 ? (
            <Empty title={digestTexts.empty}>
              <p>{digestTexts.about}</p>
              {canWrite() && (
                <p>
                  <AddButton />
                </p>
              )}
            </Empty>
          ) : (
            <>
              <DigestTable digests={digests} destinations={destinations} reload={asked.reload} />
              <Paging pagination={pagination} />
            </>
          )
        }
      </Loaded>
    </ListPage>
  )
}

const AddButton = () => (
  <a class="button primary" href={digestAddress('new')}>
    {digestTexts.add}
  </a>
)

function DigestTable({
  digests,
  destinations,
  reload,
}: {
  digests: readonly Digest[]
  destinations: readonly Destination[]
  reload: () => void
}) {
  const columns: (Column<Digest> | false)[] = [
    {
      label: texts.name,
      isName: true,
      cell: ({ id, name }) => (
        <a href={digestAddress(id)}>
          <bdi>{name}</bdi>
        </a>
      ),
    },
    {
      label: texts.status,
      cellClass: 'state',
      cell: ({ is_active: isActive }) => <ActiveStatus isActive={isActive} />,
    },
    { label: routingTexts.openAt, cellClass: 'wraps', cell: describeDigestTimes },
    {
      label: routingTexts.sendsTo,
      cell: ({ destination_id: id }) => {
        const found = destinations.find(destination => destination.id === id)
        return (
          <a href={destinationAddress(id)}>
            <bdi>{found?.name ?? routingTexts.destination}</bdi>
          </a>
        )
      },
    },
    {
      label: digestTexts.next,
      cell: ({ is_active: isActive, next_run_at: next }) => (isActive ? formatTime(next) : '–'),
    },
    pauseColumn(
      (id, isActive) =>
        api.patch('/api/v1/sdk/alerts/digests/{id}', { path: { id }, body: { is_active: isActive } }),
      isActive => {
        notify(isActive ? 'The digest is sent again.' : 'The digest is not sent until you resume it.')
        reload()
      },
    ),
  ]
  return (
    <DataTable
      label={digestTexts.digests}
      className="rules stacked two-line"
      columns={columns}
      rows={digests}
    />
  )
}

/** When a digest is sent, in words: `Monday 08:00, Europe/Berlin`. */
export function describeDigestTimes({ frequency, weekday, send_at: at, timezone }: Digest): string {
  const day = frequency === 'weekly' ? watchTexts.days[weekday - 1] : 'every day'
  return `${day} ${at}, ${timezone}`
}
