import type { AlertEventType, AlertRule, Destination } from 'tidemark/client'
import { sortKinds } from '../../lib/alert-kinds.ts'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { countOf, formatSpan } from '../../lib/format.ts'
import { useQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { useSession } from '../../parts/frame.tsx'
import { notify } from '../../parts/notices.tsx'
import { pageSizeOf, Paging, readOffset } from '../../parts/paging.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { routingTexts } from './texts.ts'
import { texts } from '../../texts.ts'
import { destinationAddress, ruleAddress } from './addresses.ts'
import { ListPage } from './list-page.tsx'
import { ActiveStatus, PauseButton } from './pause-button.tsx'

async function loadRules(limit: number, offset: number, signal: AbortSignal) {
  const [rules, destinations] = await Promise.all([
    api.get('/api/v1/sdk/alerts/rules', { query: { limit, offset }, signal }),
    api.get('/api/v1/sdk/alerts/destinations', { query: { limit: 100 }, signal }),
  ])
  return {
    rules: rules.data.data,
    page: rules.data.pagination,
    destinations: destinations.data.destinations,
    kinds: sortKinds(rules.data.event_types),
  }
}
type RuleListContent = Awaited<ReturnType<typeof loadRules>>

/** All rules: what each matches, and where it sends it. */
export function RuleList() {
  const [query] = useQuery()
  const offset = readOffset(query)
  const limit = pageSizeOf(useSession().preferences)
  const asked = useData(`rules ${limit} ${offset}`, signal => loadRules(limit, offset, signal))
  const total = asked.data?.page.total ?? 0
  return (
    <ListPage
      tab="rules"
      name={routingTexts.rules}
      help="alerts#who-hears-of-what"
      counted={total > 0 ? `${countOf(total, 'rule decides', 'rules decide')} who hears of what` : null}
      add={<AddButton />}
    >
      <Loaded of={asked} what={routingTexts.rules.toLowerCase()} rows={6}>
        {({ rules, destinations, kinds, page }: RuleListContent) =>
          page.total === 0 ? (
            <Empty title="There are no rules">
              <p>
                Every destination gets all warnings and critical alerts. The first rule replaces that: from
                then on only what a rule selects is sent.
              </p>
              {canWrite() && (
                <p>
                  <AddButton />
                </p>
              )}
            </Empty>
          ) : (
            <>
              <RuleTable rules={rules} destinations={destinations} kinds={kinds} reload={asked.reload} />
              <Paging pagination={page} />
            </>
          )
        }
      </Loaded>
    </ListPage>
  )
}

const AddButton = () => (
  <a class="button primary" href={ruleAddress('new')}>
    {routingTexts.addRule}
  </a>
)

interface TableProps {
  rules: readonly AlertRule[]
  destinations: readonly Destination[]
  kinds: readonly AlertEventType[]
  reload: () => void
}

function RuleTable({ rules, destinations, kinds, reload }: TableProps) {
  const columns: (Column<AlertRule> | false)[] = [
    {
      label: routingTexts.rule,
      isName: true,
      cell: ({ id, name }) => (
        <a href={ruleAddress(id)}>
          <bdi>{name}</bdi>
        </a>
      ),
    },
    {
      label: texts.status,
      cellClass: 'state',
      cell: ({ is_active: isActive }) => <ActiveStatus isActive={isActive} />,
    },
    { label: routingTexts.matches, cellClass: 'wraps', cell: rule => describeMatches(rule, kinds) },
    {
      label: routingTexts.sendsTo,
      cellClass: 'wraps',
      cell: rule => <Recipients rule={rule} destinations={destinations} />,
    },
    { label: routingTexts.cooldown, cell: describeCooldown },
    canWrite() && {
      label: routingTexts.pause,
      isLabelHidden: true,
      cellClass: 'action',
      cell: rule => <PauseRule rule={rule} reload={reload} />,
    },
  ]
  return (
    <DataTable label={routingTexts.rules} className="rules stacked two-line" columns={columns} rows={rules} />
  )
}

/** What a rule selects, in words: `critical, warning: stale table, tagged money`. */
export function describeMatches(rule: AlertRule, kinds: readonly AlertEventType[]): string {
  const { event_types: types, severities, tag_filter_tags: tags, asset_ids: assets } = rule
  const parts = [
    severities?.join(', '),
    types?.map(type => kinds.find(kind => kind.event_type === type)?.label ?? type).join(', '),
    tags?.length ? `tagged ${tags.join(rule.tag_filter_mode === 'all' ? ' and ' : ' or ')}` : undefined,
    assets && routingTexts.inAssets(assets.length),
  ].filter(Boolean)
  return parts.length > 0 ? parts.join('; ') : 'all alerts'
}

export const describeCooldown = ({ cooldown_minutes: minutes }: AlertRule): string =>
  minutes === 0 ? 'none' : formatSpan(minutes * 60)

/** Links to where a rule sends; those that are not in the list are counted. */
export function Recipients({
  rule: { destination_ids: ids },
  destinations,
}: {
  rule: AlertRule
  destinations: readonly Destination[]
}) {
  const known = destinations.filter(({ id }) => ids.includes(id))
  const rest = ids.length - known.length
  if (ids.length === 0) return <span class="bad">no destination</span>
  return (
    <>
      {known.map(({ id, name, is_active: isActive }) => (
        <>
          <a key={id} class="chip" href={destinationAddress(id)}>
            <bdi>{name}</bdi>
            {!isActive && ` (${routingTexts.paused})`}
          </a>{' '}
        </>
      ))}
      {rest > 0 && `${rest} more`}
    </>
  )
}

/** Pauses or resumes a rule; one without a destination cannot be resumed. */
export function PauseRule({
  rule: { id, is_active: isActive, destination_ids: ids },
  reload,
}: {
  rule: AlertRule
  reload: () => void
}) {
  if (!isActive && ids.length === 0) return <a href={ruleAddress(id)}>Choose a destination</a>
  return (
    <PauseButton
      isActive={isActive}
      className="small"
      send={(next: boolean) =>
        api.patch('/api/v1/sdk/alerts/rules/{id}', { path: { id }, body: { is_active: next } })
      }
      done={(next: boolean) => {
        notify(next ? 'The rule sends again.' : 'The rule sends nothing until you resume it.')
        reload()
      }}
    />
  )
}
