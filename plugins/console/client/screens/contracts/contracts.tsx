import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { sourceAddress, useQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { useTitle } from '../../parts/frame.tsx'
import { Help } from '../../parts/help.tsx'
import { readOffset } from '../../parts/paging.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { contractTexts as texts } from './texts.ts'
import type { ScreenProps } from '../props.ts'
import { NewContract } from './contract-form.tsx'
import { BASE, contractAddress } from './contract-address.ts'
import { ContractPage } from './contract-page.tsx'

const LIST_LIMIT = 50

/** What sources promise: all contracts, or one of them. */
export function Contracts({ name }: ScreenProps) {
  const [query] = useQuery()
  useTitle(name === '' ? texts.title : name)
  if (name) return <ContractPage key={name} name={name} />
  return query.has('add') && canWrite() ? <NewContract /> : <ContractList />
}

const loadContracts = async (offset: number, signal: AbortSignal) =>
  (await api.get('/api/v1/sdk/contracts', { query: { limit: LIST_LIMIT, offset }, signal })).data
type ContractsPage = Awaited<ReturnType<typeof loadContracts>>

type Listed = ContractsPage['contracts'][number]

const COLUMNS: Column<Listed>[] = [
  {
    label: texts.name,
    isName: true,
    cell: ({ name }) => (
      <a href={contractAddress(name)}>
        <bdi>{name}</bdi>
      </a>
    ),
  },
  {
    label: texts.status,
    cellClass: 'state',
    cell: ({ status }) => <Status status={status} word={texts.statusWords[status]} />,
  },
  { label: texts.clauses, cell: ({ counts }) => texts.clausesOf(counts) },
  {
    label: texts.source,
    cell: ({ source_name: source }) => (
      <a href={sourceAddress(source)}>
        <bdi>{source}</bdi>
      </a>
    ),
  },
  { label: texts.owner, cell: ({ owner }) => <bdi>{owner ?? '–'}</bdi> },
  { label: texts.version, cell: ({ version }) => <bdi>{version ?? '–'}</bdi> },
]

function ContractList() {
  const [query] = useQuery()
  const offset = readOffset(query)
  const asked = useData(`contracts ${offset}`, signal => loadContracts(offset, signal))
  const add = canWrite() && (
    <a class="button primary" href={`${BASE}?add=1`}>
      {texts.add}
    </a>
  )
  return (
    <div class="page">
      <Loaded of={asked} what={texts.title.toLowerCase()} rows={6}>
        {({ contracts, summary, pagination }: ContractsPage) =>
          pagination.total === 0 ? (
            <Empty title="There is no contract" isScreen={true}>
              <p>{texts.about}</p>
              {add}
            </Empty>
          ) : (
            <>
              <div class="headline">
                <h1>
                  {texts.summary(pagination.total, summary.failing, summary.failing_clauses)}
                  <Help page="contracts#enforce-a-contract" about={texts.title} />
                </h1>
                {add}
              </div>
              <p class="quiet">{texts.about}</p>
              <DataTable
                className="stacked two-line"
                label={texts.title}
                columns={COLUMNS}
                rows={contracts}
                keyOf={({ name }: Listed) => name}
                paging={pagination}
              />
            </>
          )
        }
      </Loaded>
    </div>
  )
}
