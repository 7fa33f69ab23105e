import { useState } from 'preact/hooks'
import type { ColumnProfile, TableProfileData } from 'tidemark/client'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { formatNumber, inWords } from '../../lib/format.ts'
import { checkAddress, tableAddress, withQuery } from '../../lib/router.ts'
import type { Check } from '../../parts/check-cells.tsx'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { texts } from '../../texts.ts'
import { profileTexts } from '../profile/texts.ts'
import { ColumnDetails, Changes, changesOf, type ProfileComparison } from '../profile/profile-column.tsx'
import type { TabProps } from '../props.ts'
import { Distribution } from './distribution.tsx'
import { pageTexts } from './texts.ts'

type LatestProfile = TableProfileData['data']
type TableColumn = NonNullable<TabProps['table']['columns']>[number]

/** What is known of one column: by the catalog, by the latest profile, and by the one before. */
interface KnownColumn {
  name: string
  /** Absent from a column that is gone. */
  column?: TableColumn
  profile?: ColumnProfile
}

/** The columns of a table with what they hold and what changed; an opened one with its checks. */
export function KnownColumns({
  table,
  profile,
}: {
  table: TabProps['table']
  profile: LatestProfile | null
}) {
  const [open, setOpen] = useState<string | null>(null)
  const comparison: ProfileComparison | null = profile?.comparison ?? null
  const columns: (Column<KnownColumn> | false)[] = [
    {
      label: texts.column,
      isName: true,
      cell: known => (
        <>
          <button
            class="link"
            aria-expanded={known.name === open}
            onClick={() => setOpen(known.name === open ? null : known.name)}
          >
            <code>
              <bdi>{known.name}</bdi>
            </code>
          </button>
          <Marks table={table} known={known} comparison={comparison} />
        </>
      ),
    },
    {
      label: 'Type',
      cellClass: 'nowrap',
      cell: ({ column, profile }) => <code>{column?.data_type ?? profile?.type}</code>,
    },
    profile !== null && {
      label: 'NULL',
      className: 'number',
      cell: ({ profile }) =>
        profile?.null_percent == null ? '–' : profileTexts.percent(profile.null_percent),
    },
    profile !== null && {
      label: 'Distinct',
      className: 'number',
      cell: ({ profile }) =>
        profile?.distinct == null
          ? '–'
          : `${profile.is_distinct_exact ? '' : 'about '}${formatNumber(profile.distinct)}`,
    },
    profile !== null && {
      label: 'Distribution',
      cell: ({ profile }) => profile && <Distribution column={profile} />,
    },
    comparison !== null && {
      label: 'Changed',
      cell: ({ name }) => <Changes changes={changesOf(comparison, name)} />,
    },
    {
      label: texts.tags,
      cell: ({ column }) =>
        column?.tags.map(tag => (
          <>
            <a key={tag} class="chip" href={withQuery('/catalog', { tag })}>
              <bdi>{tag}</bdi>
            </a>{' '}
          </>
        )),
    },
  ]
  return (
    <>
      {table.schema_change_status !== 'none' && (
        <p>
          <a href={tableAddress(table.qualified_name, 'changes')}>{pageTexts.changesWait}</a>
        </p>
      )}
      <DataTable
        label={texts.columns}
        className="profile stacked two-line"
        columns={columns}
        rows={joinColumns(table.columns ?? [], profile)}
        keyOf={(known: KnownColumn) => known.name}
        chosen={open}
        details={(known: KnownColumn) =>
          known.name === open && (
            <>
              <ColumnDetails
                profile={known.profile}
                isNullable={known.column?.nullable}
                description={known.column?.description}
              />
              <ColumnChecks table={table} column={known.name} />
            </>
          )
        }
      />
    </>
  )
}

/** The columns of the catalog in their order, then those that only the profile knows. */
function joinColumns(columns: readonly TableColumn[], profile: LatestProfile | null): KnownColumn[] {
  const profiles = new Map((profile?.columns ?? []).map(each => [each.name, each]))
  const known = columns.map(column => ({ name: column.name, column, profile: profiles.get(column.name) }))
  const names = new Set(columns.map(({ name }) => name))
  const gone = [...profiles.keys(), ...(profile?.comparison?.removed_columns ?? [])]
  return [
    ...known,
    ...[...new Set(gone)]
      .filter(name => !names.has(name))
      .map(name => ({ name, profile: profiles.get(name) })),
  ]
}

const MOSTLY = 80
const isMostlyNull = (profile?: ColumnProfile) =>
  profile?.null_percent != null && profile.null_percent >= MOSTLY && profile.null_percent < 100

/** Words for what is special about a column. */
function Marks({
  table,
  known: { name, column, profile },
  comparison,
}: {
  table: TabProps['table']
  known: KnownColumn
  comparison: ProfileComparison | null
}) {
  const marks = [
    table.primary_key.includes(name) && 'key',
    profile?.is_key_candidate && !table.primary_key.includes(name) && 'key candidate',
    profile?.is_masked && 'personal data',
  ].filter(mark => mark !== false && mark !== undefined)
  const warnings = [
    profile?.null_percent === 100 && 'only NULL',
    isMostlyNull(profile) && 'mostly NULL',
    comparison?.added_columns.includes(name) && 'new column',
    !column && 'removed',
  ].filter(mark => mark !== false && mark !== undefined)
  return (
    <>
      {marks.map(mark => (
        <>
          {' '}
          <span key={mark} class="chip">
            {mark}
          </span>
        </>
      ))}
      {warnings.map(mark => (
        <>
          {' '}
          <span key={mark} class="chip stands-out">
            {mark}
          </span>
        </>
      ))}
    </>
  )
}

/** The checks on a column that was opened; each leads to its chart. */
function ColumnChecks({ table, column }: { table: TabProps['table']; column: string }) {
  const asked = useData<Check[]>(`checks on columns ${table.id}`, async signal => {
    const { data } = await api.get('/api/v1/sdk/checks/{asset_id}', {
      path: { asset_id: table.id },
      query: { points: 1, limit: 100 },
      signal,
    })
    return data.items
  })
  const checks = (asked.data ?? []).filter(({ column_name: name }) => name === column)
  return (
    <ul class="pills">
      {checks.map(({ id, type, name, status }) => (
        <li key={id}>
          <a class="chip" href={checkAddress({ id, qualified_name: table.qualified_name })} title={name}>
            {inWords(type).toLowerCase()}{' '}
            <span class={status === 'failing' || status === 'error' ? 'bad' : undefined}>{status}</span>
          </a>
        </li>
      ))}
    </ul>
  )
}
