import { useState } from 'preact/hooks'
import { CopyButton } from '../../forms/secret.tsx'
import { api, isMissing } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { navigate, sourceAddress, tableAddress, useQuery, withQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { notify } from '../../parts/notices.tsx'
import { Paging, readOffset } from '../../parts/paging.tsx'
import { Empty, Loaded, MissingPage } from '../../parts/states.tsx'
import { Shape, Status } from '../../parts/status.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Ago } from '../../parts/time.tsx'
import { contractTexts as texts } from './texts.ts'
import { BASE } from './contract-address.ts'
import { ContractForm } from './contract-form.tsx'

const loadContract = async (name: string, signal: AbortSignal) =>
  (await api.get('/api/v1/sdk/contracts/{name}', { path: { name }, signal })).data
type Contract = Awaited<ReturnType<typeof loadContract>>
type Clause = Contract['clauses'][number]

const TONES = { passing: 'ok', failing: 'critical', pending: 'unknown', not_enforced: 'unknown' } as const

/** One contract: the status of each clause, the document, and what happened to it. */
export function ContractPage({ name }: { name: string }) {
  const [query] = useQuery()
  const asked = useData(`contract ${name}`, signal => loadContract(name, signal))
  if (isMissing(asked.error))
    return <MissingPage title="This contract does not exist" href={BASE} back="All contracts" />
  const tab = query.get('tab') ?? 'clauses'
  const tabs = [
    { id: 'clauses', name: texts.clauses },
    { id: 'document', name: texts.document },
    { id: 'history', name: texts.history },
  ]
  return (
    <div class="page">
      <p class="path">
        <a href={BASE}>{texts.title}</a>
      </p>
      <Loaded of={asked} what={name} rows={8}>
        {(contract: Contract) => (
          <>
            <h1>
              <Shape tone={TONES[contract.status]} />
              <bdi>{texts.verdict(contract.name, contract.status, contract.counts)}</bdi>
            </h1>
            <p class="quiet">
              {texts.source}:{' '}
              <a href={sourceAddress(contract.source_name)}>
                <bdi>{contract.source_name}</bdi>
              </a>{' '}
              · {texts.owner}: <bdi>{contract.owner ?? '–'}</bdi> · {texts.version}:{' '}
              <bdi>{contract.version ?? '–'}</bdi> · {texts.judged} <Ago at={contract.judged_at} />
            </p>
            <Tabs tabs={tabs} current={tab} label={contract.name} />
            {tab === 'clauses' && <Clauses contract={contract} />}
            {tab === 'document' && (
              <>
                <p>
                  <CopyButton text={contract.contract} label={texts.copyDocument} />
                </p>
                <Document contract={contract} reload={asked.reload} />
              </>
            )}
            {tab === 'history' && <History name={name} updatedAt={contract.updated_at} />}
          </>
        )}
      </Loaded>
    </div>
  )
}

function Clauses({ contract }: { contract: Contract }) {
  const rank = { failing: 0, pending: 1, passing: 2, not_enforced: 3 }
  const enforced = contract.clauses
    .filter(({ status }) => status !== 'not_enforced')
    .toSorted((a, b) => rank[a.status] - rank[b.status])
  const left = contract.clauses.filter(({ status }) => status === 'not_enforced')
  return (
    <>
      {enforced.length > 0 && <ClauseTable clauses={enforced} label={texts.clauses} />}
      {left.length > 0 && (
        <>
          <h2 class="section">{texts.unenforced(left.length)}</h2>
          <p class="quiet">They are kept in the document, and nothing checks them.</p>
          <ClauseTable clauses={left} label={texts.unenforced(left.length)} />
        </>
      )}
      <h2 class="section">Badge</h2>
      <p class="quiet">A public picture of the status. Everyone who has its address sees it.</p>
      <div class="shared">
        <p>
          <img
            src={new URL(contract.badge_url).pathname}
            alt={`${contract.name}: ${texts.statusWords[contract.status]}`}
          />
        </p>
        <p>
          <code>{contract.markdown}</code> <CopyButton text={contract.markdown} />
        </p>
      </div>
    </>
  )
}

const CLAUSE_COLUMNS: Column<Clause>[] = [
  {
    label: 'Clause',
    isName: true,
    cellClass: 'clause',
    cell: clause => (
      <>
        <ClauseTitle clause={clause} />
        {clause.reason !== null && (
          <div class="quiet">
            <bdi>{clause.reason}</bdi>
          </div>
        )}
      </>
    ),
  },
  {
    label: texts.status,
    cellClass: 'state',
    cell: ({ status }) => <Status status={status} word={texts.statusWords[status]} />,
  },
  { label: 'Since', cell: ({ since }) => <Ago at={since} /> },
]

function ClauseTable({ clauses, label }: { clauses: readonly Clause[]; label: string }) {
  return (
    <DataTable
      className="stacked two-line"
      label={label}
      columns={CLAUSE_COLUMNS}
      rows={clauses}
      keyOf={({ key }: Clause) => key}
    />
  )
}

/** A clause, linked to what it is judged by: its check, the freshness or the columns of its table. */
function ClauseTitle({
  clause: { title, kind, asset_id: table, check_id: check, check_kind },
}: {
  clause: Clause
}) {
  if (table === null) return <bdi>{title}</bdi>
  const isCheck = check !== null && check_kind !== 'freshness'
  const tab = kind === 'sla' ? 'freshness' : 'columns'
  return (
    <a href={withQuery(tableAddress(table), isCheck ? { check } : { tab })}>
      <bdi>{title}</bdi>
    </a>
  )
}

function Document({ contract, reload }: { contract: Contract; reload: () => void }) {
  const [isOpen, setOpen] = useState(false)
  if (!canWrite())
    return (
      <>
        <p class="quiet">Only members, admins and owners change contracts.</p>
        <pre class="document" tabindex={0} role="region" aria-label={texts.document}>
          {contract.contract}
        </pre>
      </>
    )
  const remove = async () => {
    await api.delete('/api/v1/sdk/contracts/{name}', { path: { name: contract.name } })
    notify(`The contract ${contract.name} was deleted.`)
    navigate(BASE)
  }
  return (
    <>
      <ContractForm key={contract.updated_at} stored={contract} reload={reload} />
      <p class="danger">
        <button class="bad" onClick={() => setOpen(true)}>
          {texts.remove}
        </button>
      </p>
      {isOpen && (
        <ConfirmDialog title={texts.remove} action={texts.remove} work={remove} close={() => setOpen(false)}>
          <p>{texts.removeText(contract.name)}</p>
        </ConfirmDialog>
      )}
    </>
  )
}

const HISTORY_LIMIT = 50

const loadEvents = async (name: string, offset: number, signal: AbortSignal) =>
  (
    await api.get('/api/v1/sdk/contracts/{name}/history', {
      path: { name },
      query: { limit: HISTORY_LIMIT, offset },
      signal,
    })
  ).data
type Events = Awaited<ReturnType<typeof loadEvents>>

/** @param props.updatedAt a contract that was replaced meanwhile has a further event */
function History({ name, updatedAt }: { name: string; updatedAt: string }) {
  const [query] = useQuery()
  const offset = readOffset(query)
  const asked = useData(`history of ${name} ${offset} ${updatedAt}`, signal =>
    loadEvents(name, offset, signal),
  )
  return (
    <Loaded of={asked} what={texts.history.toLowerCase()} rows={6}>
      {({ events, pagination }: Events) =>
        events.length === 0 ? (
          <Empty title="Nothing has happened yet." />
        ) : (
          <>
            <ul class="history">
              {events.map(event => (
                <li key={event.id}>
                  <HistoryEntry event={event} />
                </li>
              ))}
            </ul>
            <Paging pagination={pagination} />
          </>
        )
      }
    </Loaded>
  )
}

function HistoryEntry({ event }: { event: Events['events'][number] }) {
  const { event: what, clause_title: title, from_status: from, to_status: to, reason, version, at } = event
  if (what !== 'status' || from === null || to === null)
    return (
      <>
        <Ago at={at} /> {texts.event(what, version)}
      </>
    )
  return (
    <>
      <Ago at={at} /> <Status status={to} word={`${texts.statusWords[from]} → ${texts.statusWords[to]}`} />{' '}
      <bdi>{title}</bdi>
      {reason !== null && (
        <>
          {': '}
          <span class="quiet">{reason}</span>
        </>
      )}
    </>
  )
}
