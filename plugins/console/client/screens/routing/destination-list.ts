import type { Destination } from 'tidemark/client'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { formatNumber } from '../../lib/format.ts'
import { html } from '../../lib/html.ts'
import { useQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { DataTable, type Column } from '../../parts/table/data-table.ts'
import { useSession, useTitle } from '../../parts/frame.ts'
import { Help } from '../../parts/help.ts'
import { pageSizeOf, Paging, readOffset } from '../../parts/paging.ts'
import { Empty, Loaded } from '../../parts/states.ts'
import { Shape, Status } from '../../parts/status.ts'
import { Ago } from '../../parts/time.ts'
import { routingTexts } from './texts.ts'
import { texts } from '../../texts.ts'
import { destinationAddress, ruleAddress } from './addresses.ts'
import { describeDestination } from './destination-state.ts'
import { PauseDestination } from './pause-button.ts'
import { RoutingTabs } from './routing-tabs.ts'

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
  return html`<div class="page">
    <div class="headline">
      <h1>
        ${failing > 0 && html`<${Shape} tone="critical" />`}
        ${total > 0 ? routingTexts.destinationsTitle(total, failing) : routingTexts.title}
        <${Help} page="destinations" about=${routingTexts.destinations} />
      </h1>
      ${total > 0 && canWrite() && html`<${AddButton} />`}
    </div>
    <${RoutingTabs} current="destinations" />
    <${Loaded} of=${asked} what=${routingTexts.destinations.toLowerCase()} rows=${6}>
      ${({ destinations, pagination, failing, hasRules }: DestinationListContent) =>
        pagination.total === 0
          ? html`<${Empty} title="Alerts are sent nowhere yet">
              <p>A destination is where messages about alerts go: a channel, a pager, mail, or a webhook.</p>
              ${canWrite() && html`<p><${AddButton} /></p>`}
            <//>`
          : html`${failing.destinations.map(each => html`<${FailingNotice} key=${each.id} destination=${each} />`)}
              ${
                !hasRules &&
                html`<p class="above">
                  ${routingTexts.withoutRules}${' '}
                  ${canWrite() && html`<a href=${ruleAddress('new')}>${routingTexts.addRule}</a>`}
                </p>`
              }
              <${DestinationTable} destinations=${destinations} reload=${asked.reload} />
              <${Paging} pagination=${pagination} />`}
    <//>
  </div>`
}

const AddButton = () => html`<a class="button primary" href="/routing/new">${routingTexts.addDestination}</a>`

function FailingNotice({ destination }: { destination: Destination }) {
  return html`<div class="failure">
    <p>
      <strong><bdi>${describeDestination(destination).sentence}.</bdi></strong>
      ${' '}${routingTexts.failingSince}${' '}<${Ago} at=${destination.failing_since} />.
    </p>
    <a
      class="button"
      aria-label=${`${routingTexts.seeWhy}: ${destination.name}`}
      href=${destinationAddress(destination.id, { status: 'failed' })}
      >${routingTexts.seeWhy}</a
    >
  </div>`
}

function DestinationTable({
  destinations,
  reload,
}: {
  destinations: readonly Destination[]
  reload: () => void
}) {
  const columns: Column<Destination>[] = [
    {
      label: routingTexts.destination,
      isName: true,
      cell: ({ id, name }) => html`<a href=${destinationAddress(id)}><bdi>${name}</bdi></a>`,
    },
    {
      label: texts.status,
      cell: destination => {
        const { status, word } = describeDestination(destination)
        return html`<${Status} status=${status} word=${word} />`
      },
    },
    { label: texts.type, cell: destination => destination.destination_type },
    {
      label: 'Last message',
      cell: ({ last_delivery: last }) =>
        last
          ? html`<${Status} status=${last.status} /> <${Ago} at=${last.created_at} />`
          : html`<span class="quiet">–</span>`,
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
        failed > 0
          ? html`<a href=${destinationAddress(id, { status: 'failed' })}>${formatNumber(failed)}</a>`
          : '0',
    },
    {
      label: 'Next step',
      cell: destination => html`<${NextStep} destination=${destination} reload=${reload} />`,
    },
  ]
  return html`<${DataTable} label=${routingTexts.destinations} columns=${columns} rows=${destinations} />`
}

/** The one thing to do about a destination that does not simply work. */
function NextStep({ destination, reload }: { destination: Destination; reload: () => void }) {
  const { state } = describeDestination(destination)
  const { id, name } = destination
  if (state === 'failing' || state === 'disabled')
    return html`<a
      aria-label=${`${routingTexts.seeWhy}: ${name}`}
      href=${destinationAddress(id, { status: 'failed' })}
      >${routingTexts.seeWhy}</a
    >`
  if (!canWrite()) return null
  if (state === 'untested')
    return html`<a aria-label=${`${routingTexts.sendTest}: ${name}`} href=${destinationAddress(id)}
      >${routingTexts.sendTest}</a
    >`
  if (state === 'paused')
    return html`<${PauseDestination} destination=${destination} className="small" reload=${reload} />`
  return null
}
