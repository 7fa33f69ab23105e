import { useState } from 'preact/hooks'
import { updateCheck } from '../../checks/requests.ts'
import { useAction } from '../../lib/action.ts'
import { api } from '../../lib/api.ts'
import { countOf, formatNumber } from '../../lib/format.ts'
import { tableAddress } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { NameLink } from '../../parts/table/name-link.tsx'
import { shortNames } from '../../parts/table/short-name.ts'
import { notify } from '../../parts/notices.tsx'
import { Ago } from '../../parts/time.tsx'
import { costTexts as texts } from './cost-texts.ts'

/** The tables of a source whose scans cost most in the last days. */
export async function loadCosts(
  query: { asset_id: string; days: number; order_by: (typeof COLUMNS)[number] },
  signal: AbortSignal,
) {
  const { data } = await api.get('/api/v1/sdk/usage/tables', { query: { ...query, limit: 20 }, signal })
  return data.items
}
export type TableCost = Awaited<ReturnType<typeof loadCosts>>[number]

const COLUMNS = ['statements', 'seconds', 'rows', 'bytes'] as const

/** Tables in the order of what their scans cost, each with a button that pauses its checks. */
export function CostlyTables({ tables, reload }: { tables: readonly TableCost[]; reload: () => void }) {
  const short = shortNames(tables.map(({ table_path: path }) => path))
  const columns: (Column<TableCost> | false)[] = [
    {
      label: 'Table',
      isName: true,
      cell: table => (
        <NameLink
          href={tableAddress(table.qualified_name)}
          name={table.table_path}
          short={short.get(table.table_path)}
        />
      ),
    },
    { label: 'Checks', className: 'right', cell: table => formatNumber(table.active_checks) },
    { label: 'Scans', className: 'right', cell: table => formatNumber(table.scans) },
    ...COLUMNS.filter(name => name !== 'bytes' || tables.some(({ bytes }) => bytes > 0)).map(name => ({
      label: texts.measures[name],
      className: 'right',
      cell: (table: TableCost) => formatNumber(table[name]),
    })),
    { label: texts.aCheck, className: 'right', cell: table => <CheckCost table={table} /> },
    { label: texts.lastScan, cell: table => <Ago at={table.last_scan_at} /> },
    canWrite() && {
      label: 'Action',
      cell: table => <PauseButton table={table} reload={reload} />,
    },
  ]
  return (
    <DataTable
      label={texts.tables}
      columns={columns}
      rows={tables}
      keyOf={(table: TableCost) => table.asset_id}
    />
  )
}

/** What one run of one check comes to: the cost of the scans of its table, shared by all of its checks. */
function CheckCost({ table }: { table: TableCost }) {
  const runs = table.scans * table.active_checks
  if (runs === 0) return <span class="quiet">–</span>
  const { statements, rows, seconds, bytes } = table
  return (
    <span title={texts.shareOf(statements / runs, rows / runs)}>
      {texts.ofOneCheck((1_000 * seconds) / runs, bytes / runs)}
    </span>
  )
}

/** Pauses the active checks of a table; what was paused here can be resumed here. */
function PauseButton({ table, reload }: { table: TableCost; reload: () => void }) {
  const [paused, setPaused] = useState<readonly string[]>([])
  const name = table.table_path
  const [isPausing, pause] = useAction(texts.pause, async () => {
    const done = await pauseChecks(table.asset_id)
    setPaused(done)
    notify(`${countOf(done.length, 'check')} of ${name} ${done.length === 1 ? 'is' : 'are'} paused.`)
    reload()
  })
  const [isResuming, resume] = useAction(texts.resume, async () => {
    for (const check of paused) await updateCheck(table.asset_id, check, { is_active: true })
    setPaused([])
    notify(`${countOf(paused.length, 'check')} of ${name} ${paused.length === 1 ? 'runs' : 'run'} again.`)
    reload()
  })
  if (paused.length > 0)
    return (
      <button class="small" disabled={isResuming} aria-label={`Resume its checks: ${name}`} onClick={resume}>
        {texts.resume}
      </button>
    )
  if (table.active_checks === 0) return <span class="quiet">None is active</span>
  return (
    <button class="small" disabled={isPausing} aria-label={`Pause its checks: ${name}`} onClick={pause}>
      {texts.pause}
    </button>
  )
}

/** As many as the list of checks gives in one reply. */
const PAGE = 100

/** Pauses all active checks of a table. @returns their ids */
async function pauseChecks(tableId: string): Promise<string[]> {
  const paused: string[] = []
  for (;;) {
    const { data } = await api.get('/api/v1/sdk/checks/{asset_id}', {
      path: { asset_id: tableId },
      query: { is_active: true, points: 0, limit: PAGE },
    })
    for (const { id } of data.items) {
      await updateCheck(tableId, id, { is_active: false })
      paused.push(id)
    }
    // Paused ones leave the list, so the next page begins where this one did.
    if (data.items.length < PAGE) return paused
  }
}
