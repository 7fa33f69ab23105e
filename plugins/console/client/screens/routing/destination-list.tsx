import type { Destination } from 'tidemark/client'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { formatNumber } from '../../lib/format.ts'
import { useQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { useSession, useTitle } from '../../parts/frame.tsx'
import { Help } from '../../parts/help.tsx'
import { pageSizeOf, Paging, readOffset } from '../../parts/paging.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Shape, Status } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import { routingTexts } from './texts.ts'
import { texts } from '../../texts.ts'
import { destinationAddress, ruleAddress } from './addresses.ts'
import { describeDestination } from './destination-state.ts'
import { PauseDestination } from './pause-button.tsx'
import { RoutingTabs } from './routing-tabs.tsx'

/** Failing destinations that are shown above the list, wherever they stand in it. */
const MAX_SHOWN_FAILING = 5

async function loadDestinations(limit: number, offset: number, signal: AbortSignal) {
  const path = '/api/v1/sdk/alerts/destinations'
  const [list, failing, rules] = await Promise.all([
    api.get(path, { query: { limit, offset }, signal }),
    api.get(path, { query: { is_failing: true, limit: MAX_SHOWN_FAILING }, signal }),
    api.get('/api/v1/sdk/alerts/rules', { query: { limit: 1 }, signal }),
  ])
  return { ...list.data, failing: failing.data, hasRules: rules.data.pagination.total > 0 }
}
type DestinationListContent = Awaited<ReturnType<typeof loadDestinations>>

/** All destinations, with those above that take no messages. */
export function DestinationList() {
  const [query] = useQuery()
  const offset = readOffset(query)
  const limit = pageSizeOf(useSession().preferences)
  const asked = useData(`destinations ${limit} ${offset}`, signal => loadDestinations(limit, offset, signal))
  useTitle(routingTexts.title)
  const total = asked.data?.pagination.total ?? 0
  const failing = asked.data?.failing.pagination.total ?? 0
  return (
    <div class="page">
      <div class="headline">
        <h1>
          {failing > 0 && <Shape tone="critical" />}
          {total > 0 ? routingTexts.destinationsTitle(total, failing) : routingTexts.title}
          <Help page="destinations" about={routingTexts.destinations} />
        </h1>
        {total > 0 && canWrite() && <AddButton />}
      </div>
      <RoutingTabs current="destinations" />
      <Loaded of={asked} what={routingTexts.destinations.toLowerCase()} rows={6}>
        {({ destinations, pagination, failing, hasRules }: DestinationListContent) =>
          pagination.total === 0 ? (
            <Empty title="Alerts are sent nowhere yet">
              <p>A destination is where messages about alerts go: a channel, a pager, mail, or a webhook.</p>
              {canWrite() && (
                <p>
                  <AddButton />
                </p>
              )}
            </Empty>
          ) : (
            <>
              {failing.destinations.map(each => (
                <FailingNotice key={each.id} destination={each} />
              ))}
              {!hasRules && (
                <p class="above">
                  {routingTexts.withoutRules}{' '}
                  {canWrite() && <a href={ruleAddress('new')}>{routingTexts.addRule}</a>}
                </p>
              )}
              <DestinationTable destinations={destinations} reload={asked.reload} />
              <Paging pagination={pagination} />
            </>
          )
        }
      </Loaded>
    </div>
  )
}

const AddButton = () => (
  <a class="button primary" href="/routing/new">
    {routingTexts.addDestination}
  </a>
)

function FailingNotice({ destination }: { destination: Destination }) {
  return (
    <div class="failure">
      <p>
        <strong>
          <bdi>{describeDestination(destination).sentence}.</bdi>
        </strong>{' '}
        {routingTexts.failingSince} <Ago at={destination.failing_since} />.
      </p>
      <a
        class="button"
        aria-label={`${routingTexts.seeWhy}: ${destination.name}`}
        href={destinationAddress(destination.id, { status: 'failed' })}
      >
        {routingTexts.seeWhy}
      </a>
    </div>
  )
}

function DestinationTable({
  destinations,
  reload,
}: {
  destinations: readonly Destination[]
  reload: () => void
}) {
  const columns: (Column<Destination> | false)[] = [
    {
      label: routingTexts.destination,
      isName: true,
      cell: ({ id, name }) => (
        <a href={destinationAddress(id)}>
          <bdi>{name}</bdi>
        </a>
      ),
    },
    {
      label: texts.status,
      cellClass: 'state',
      cell: destination => {
        const { status, word } = describeDestination(destination)
        return <Status status={status} word={word} />
      },
    },
    { label: texts.type, cell: destination => destination.destination_type },
    {
      label: 'Last message',
      cell: ({ last_delivery: last }) =>
        last ? (
          <>
            <Status status={last.status} /> <Ago at={last.created_at} />
          </>
        ) : (
          <span class="quiet">–</span>
        ),
    },
    {
      label: 'Sent in 24 h',
      className: 'right',
      cell: destination => formatNumber(destination.last_24_hours.delivered),
    },
    {
      label: 'Failed in 24 h',
      className: 'right',
      cell: ({ id, last_24_hours: { failed } }) =>
        failed > 0 ? <a href={destinationAddress(id, { status: 'failed' })}>{formatNumber(failed)}</a> : '0',
    },
    destinations.some(needsStep) && {
      label: 'Next step',
      cell: destination => <NextStep destination={destination} reload={reload} />,
    },
  ]
  return (
    <DataTable
      className="stacked two-line"
      label={routingTexts.destinations}
      columns={columns}
      rows={destinations}
    />
  )
}

const needsStep = (destination: Destination) => describeDestination(destination).state !== 'active'

/** The one thing to do about a destination that does not simply work. */
function NextStep({ destination, reload }: { destination: Destination; reload: () => void }) {
  const { state } = describeDestination(destination)
  const { id, name } = destination
  if (state === 'failing' || state === 'disabled')
    return (
      <a aria-label={`${routingTexts.seeWhy}: ${name}`} href={destinationAddress(id, { status: 'failed' })}>
        {routingTexts.seeWhy}
      </a>
    )
  if (!canWrite()) return null
  if (state === 'untested')
    return (
      <a aria-label={`${routingTexts.sendTest}: ${name}`} href={destinationAddress(id)}>
        {routingTexts.sendTest}
      </a>
    )
  if (state === 'paused')
    return <PauseDestination destination={destination} className="small" reload={reload} />
  return null
}
