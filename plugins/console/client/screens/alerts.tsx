import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Alert, AlertInContext } from 'tidemark/client'
import { countOf } from '../lib/format.ts'
import { loadAlertKinds } from '../lib/alert-kinds.ts'
import { api, isMissing } from '../lib/api.ts'
import { useData, useDebounced, type Data } from '../lib/data.ts'
import { useKeys } from '../lib/keys.ts'
import { assetAddress, navigate, useQuery, withQuery } from '../lib/router.ts'
import { canWrite } from '../lib/session.ts'
import { useSignal } from '../lib/signal.ts'
import { EmptyUnlessNew } from '../parts/first-source.tsx'
import { OPEN_STATUSES, openAlerts, useTitle } from '../parts/frame.tsx'
import { Help } from '../parts/help.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Paging, readOffset, type PageOfList } from '../parts/paging.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Shape, Status, toneOf } from '../parts/status.tsx'
import { ListTools } from '../parts/table/list-tools.tsx'
import { NameLink } from '../parts/table/name-link.tsx'
import { shortNames } from '../parts/table/short-name.ts'
import { toggled } from '../parts/table/table-head.tsx'
import { Ago } from '../parts/time.tsx'
import { texts } from '../texts.ts'
import { AlertDetail } from './alert-detail.tsx'
import { AlertFilters, isFiltered, readFilters } from './alert-filters.tsx'
import { beginMove, MoveButtons, MOVES, type Move, type PendingMove } from './alert-moves.tsx'
import type { ScreenProps } from './props.ts'
import { shortNameOf } from './timeline/assignee.ts'
import { shortTitle } from './timeline/short-title.ts'

const LIMIT = 50
const SKIM_MS = 150

const MoveDialog = lazy(async () => (await import('./alert-move-dialog.tsx')).MoveDialog)

interface AlertList {
  alerts: Alert[]
  pagination: PageOfList
}

/** The alerts of the address, grouped by table, beside the one that is chosen. */
export function Alerts({ name: chosenId }: ScreenProps) {
  const [query] = useQuery()
  const kinds = useData('alert kinds', loadAlertKinds)
  const filters = readFilters(query, kinds.data ?? [])
  const isInbox = (query.get('tab') ?? 'open') === 'open' && !isFiltered(query)
  const offset = readOffset(query)
  // What a kind of the address selects is not known before.
  const isWaiting = query.has('kind') && kinds.isLoading && !kinds.data
  const key = `alerts ${JSON.stringify(filters)} ${offset}`
  const load = async (page: { limit: number; offset: number }, signal: AbortSignal) => {
    const { data } = await api.get('/api/v1/sdk/alerts', { query: { ...filters, ...page }, signal })
    return { alerts: data.data, pagination: data.pagination }
  }
  const list = useData<AlertList>(isWaiting ? null : key, signal => load({ limit: LIMIT, offset }, signal))
  const groups = useMemo(() => groupByTable(list.data?.alerts ?? []), [list.data])
  const short = useMemo(() => shortNames(groups.map(({ name }) => name)), [groups])
  const ordered = useMemo(() => groups.flatMap(({ alerts }) => alerts), [groups])
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [pending, setPending] = useState<PendingMove | null>(null)
  useTitle(texts.alerts)
  useEffect(() => setSelected(new Set()), [list.data?.pagination.offset, query.get('tab')])

  const place = ordered.findIndex(({ id }) => id === chosenId)
  const isRead = useDebounced(chosenId, SKIM_MS) === chosenId
  const asked = useData<AlertInContext>(chosenId && isRead ? `alert ${chosenId}` : null, async signal => {
    return (await api.get('/api/v1/sdk/alerts/{id}', { path: { id: chosenId }, signal })).data
  })
  const chosen = ordered[place] ?? asked.data
  const open = (id: string, replace = chosenId !== '') =>
    navigate(withQuery(id ? `/alerts/${id}` : '/alerts', {}, query), { replace })
  const go = (step: number) => {
    const next = ordered[Math.max(0, Math.min(ordered.length - 1, place < 0 && step > 0 ? 0 : place + step))]
    if (!next) return
    open(next.id)
    document.getElementById(`alert-${next.id}`)?.scrollIntoView({ block: 'nearest' })
  }
  const toggle = (id: string) => setSelected(toggled(selected, id))
  const targets = selected.size > 0 ? ordered.filter(({ id }) => selected.has(id)) : chosen ? [chosen] : []
  const moved = (changed: readonly Alert[]) => {
    const next = new Map(changed.map(alert => [alert.id, alert]))
    const isActive = ({ status }: Alert) => status === 'triggered' || status === 'acknowledged'
    const before = new Map([...ordered, ...(chosen ? [chosen] : [])].map(alert => [alert.id, alert]))
    const ended = changed.filter(alert => !isActive(alert) && isActive(before.get(alert.id) ?? alert)).length
    list.update(({ alerts, pagination }) => ({
      alerts: alerts.map(alert => next.get(alert.id) ?? alert),
      pagination: isInbox ? { ...pagination, total: pagination.total - ended } : pagination,
    }))
    if (next.has(chosenId)) {
      asked.update(alert => ({ ...alert, ...next.get(alert.id) }))
      // The timeline has an entry more.
      asked.reload()
    }
    setSelected(new Set([...selected].filter(id => !next.has(id))))
    const { value: known } = openAlerts
    if (known && ended > 0) openAlerts.set({ ...known, count: Math.max(0, known.count - ended) })
  }
  const begin = (move: Move, alerts: readonly Alert[] = targets) =>
    beginMove(move, alerts, { ask: setPending, moved })
  useKeys([
    { keys: 'j', text: `${texts.next}: ${texts.alerts}`, run: () => go(1) },
    { keys: 'k', text: `${texts.previous}: ${texts.alerts}`, run: () => go(-1) },
    ...(canWrite()
      ? [{ keys: 'x', text: texts.select(texts.alerts), run: () => chosenId && toggle(chosenId) }]
      : []),
    {
      keys: 'Enter',
      text: texts.readAlert,
      run: () => document.querySelector<HTMLElement>('.inbox-detail')?.focus(),
    },
    {
      keys: 'Escape',
      text: texts.close,
      run: () => (selected.size > 0 ? setSelected(new Set()) : chosenId && open('')),
    },
    ...MOVES.map(({ move, key, name }) => ({ keys: key, text: name, run: () => begin(move) })),
  ])

  return (
    <div class={chosenId ? 'page inbox chosen' : 'page inbox'}>
      <div class="inbox-list">
        <div class="headline">
          <Title list={list.data} isOpen={isInbox} />
          <ListTools
            list="alerts"
            path="/alerts"
            load={async (page: { limit: number; offset: number }, signal: AbortSignal) => {
              const { alerts, pagination } = await load(page, signal)
              return { rows: alerts, total: pagination.total }
            }}
          />
        </div>
        <AlertFilters kinds={kinds.data ?? []} />
        <NewAlerts list={list.data} reload={list.reload} isShown={isInbox} />
        <Loaded of={list} what={texts.alerts.toLowerCase()} rows={12}>
          {({ pagination }: AlertList) =>
            ordered.length === 0 ? (
              <NoAlerts isFiltered={isFiltered(query)} tab={query.get('tab')} />
            ) : (
              <>
                {groups.map(group => (
                  <Group
                    key={group.name}
                    group={group}
                    short={short.get(group.name)}
                    chosenId={chosenId}
                    selected={selected}
                    toggle={toggle}
                  />
                ))}
                <Paging pagination={pagination} />
              </>
            )
          }
        </Loaded>
        {selected.size > 0 && (
          <p class="bulk">
            <span>{texts.selected(selected.size)}</span>
            <MoveButtons alerts={targets} begin={begin} />
          </p>
        )}
      </div>
      <div class="inbox-detail" tabindex={-1}>
        {chosenId ? (
          <Chosen
            key={chosenId}
            alert={chosen}
            asked={asked}
            isRead={isRead}
            begin={(move: Move, alert: Alert) => begin(move, [alert])}
            changed={(alert: Alert) => moved([alert])}
          />
        ) : (
          <p class="quiet hint">Choose an alert to see why it was raised.</p>
        )}
      </div>
      {pending && <MoveDialog pending={pending} close={() => setPending(null)} moved={moved} />}
    </div>
  )
}

const addressOf = ({ asset }: Alert) => assetAddress(asset)

interface AlertGroup {
  name: string
  alerts: Alert[]
}

/** Alerts of one table stand together, where its first one does. */
function groupByTable(alerts: readonly Alert[]): AlertGroup[] {
  const groups = new Map<string, Alert[]>()
  for (const alert of alerts) {
    const { qualified_name: name } = alert
    groups.set(name, [...(groups.get(name) ?? []), alert])
  }
  return [...groups].map(([name, alerts]) => ({ name, alerts }))
}

function Title({ list, isOpen }: { list: AlertList | undefined; isOpen: boolean }) {
  const count = list?.pagination.total
  return (
    <h1>
      {count === undefined ? texts.alerts : isOpen ? texts.inboxTitle(count) : countOf(count, 'alert')}
      <Help page="alerts#see-and-move-them" about={texts.alerts} />
    </h1>
  )
}

/** The alert of the address, or why it is not there. */
function Chosen({
  alert,
  asked,
  isRead,
  begin,
  changed,
}: {
  alert: Alert | undefined
  asked: Data<AlertInContext>
  isRead: boolean
  begin: (move: Move, alert: Alert) => void
  changed: (alert: Alert) => void
}) {
  if (alert)
    return <AlertDetail alert={alert} context={asked} isRead={isRead} begin={begin} changed={changed} />
  if (isMissing(asked.error)) return <Empty title="There is no such alert" />
  return (
    <Loaded of={asked} what={texts.alerts.toLowerCase()} rows={9}>
      {() => null}
    </Loaded>
  )
}

/** New alerts are announced instead of moving what a person reads. They are counted once the frame's poll has found one. */
function NewAlerts({
  list,
  reload,
  isShown,
}: {
  list: AlertList | undefined
  reload: () => void
  isShown: boolean
}) {
  const newestAt = useSignal(openAlerts)?.newestAt
  const since = list && newestOf(list.alerts)
  // Those of the same moment are in the list already.
  const known = list?.alerts.filter(({ created_at: at }) => at === since).length ?? 0
  const hasMore = isShown && since !== undefined && newestAt != null && newestAt > since
  const count = useData(hasMore ? `alerts since ${since} to ${newestAt}` : null, async signal => {
    const query = { status: [...OPEN_STATUSES], since, limit: 1 }
    return (await api.get('/api/v1/sdk/alerts', { query, signal })).data.pagination.total
  })
  const more = hasMore ? (count.data ?? known) - known : 0
  if (more <= 0) return null
  return (
    <p role="status">
      <button class="primary new" onClick={reload}>
        {texts.newAlerts(more)}
      </button>
    </p>
  )
}

const newestOf = (alerts: readonly Alert[]): string =>
  alerts.reduce((newest, { created_at: at }) => (at > newest ? at : newest), '1970-01-01T00:00:00.000Z')

function NoAlerts({ isFiltered, tab }: { isFiltered: boolean; tab: string | null }) {
  if (isFiltered || tab) return <Empty title="No alert matches" />
  return (
    <EmptyUnlessNew text="Alerts appear here once Tidemark watches your data.">
      <Empty title="Nothing is wrong at the moment">
        <p>Alerts appear here by themselves.</p>
      </Empty>
    </EmptyUnlessNew>
  )
}

function Group({
  group: { name, alerts },
  short,
  chosenId,
  selected,
  toggle,
}: {
  group: AlertGroup
  short: string | undefined
  chosenId: string
  selected: ReadonlySet<string>
  toggle: (id: string) => void
}) {
  const [query] = useQuery()
  return (
    <section class="group">
      <h2>
        <NameLink href={addressOf(alerts[0]!)} name={name} short={short} />
      </h2>
      <ul class="list">
        {alerts.map(alert => (
          <li key={alert.id} id={`alert-${alert.id}`} class={alert.id === chosenId ? 'chosen' : ''}>
            {canWrite() && (
              <input
                type="checkbox"
                checked={selected.has(alert.id)}
                aria-label={texts.select(alert.title)}
                onChange={() => toggle(alert.id)}
              />
            )}
            <a
              href={withQuery(`/alerts/${alert.id}`, {}, query)}
              aria-current={alert.id === chosenId || undefined}
            >
              <Shape tone={toneOf(alert.severity)} />
              <span class="hidden">{alert.severity}</span>
              <span class="text">
                <bdi>{shortTitle(alert)}</bdi>
              </span>
              {alert.status !== 'triggered' && <Status status={alert.status} />}
              {alert.muted_until && <Status status="muted" />}
              {alert.assignee && (
                <span class="quiet">
                  <bdi>{shortNameOf(alert.assignee)}</bdi>
                </span>
              )}
              {alert.delivery_failed && <span class="bad">message failed</span>}
              <Ago at={alert.created_at} />
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}
