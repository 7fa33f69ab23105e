import { useState } from 'preact/hooks'
import { updateCheck } from '../../checks/requests.ts'
import { useAction } from '../../lib/action.ts'
import { api } from '../../lib/api.ts'
import { formatNumber } from '../../lib/format.ts'
import { html } from '../../lib/html.ts'
import { tableAddress } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { notify } from '../../parts/notices.ts'
import { Ago } from '../../parts/time.ts'
import { costTexts as texts } from '../../texts/cost.ts'

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
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${texts.tables}>
    <table>
      <thead>
        <tr>
          <th scope="col">${texts.table}</th>
          <th scope="col" class="right">${texts.scans}</th>
          ${COLUMNS.map(name => html`<th key=${name} scope="col" class="right">${texts.measures[name]}</th>`)}
          <th scope="col">${texts.lastScan}</th>
          ${canWrite() && html`<th scope="col">${texts.action}</th>`}
        </tr>
      </thead>
      <tbody>
        ${tables.map(
          table =>
            html`<tr key=${table.asset_id}>
              <th scope="row">
                <a href=${tableAddress(table.qualified_name)}><bdi>${table.table_path}</bdi></a>
              </th>
              <td class="right">${formatNumber(table.scans)}</td>
              ${COLUMNS.map(name => html`<td key=${name} class="right">${formatNumber(table[name])}</td>`)}
              <td><${Ago} at=${table.last_scan_at} /></td>
              ${canWrite() && html`<td><${PauseButton} table=${table} reload=${reload} /></td>`}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

/** Pauses the active checks of a table; what was paused here can be resumed here. */
function PauseButton({ table, reload }: { table: TableCost; reload: () => void }) {
  const [paused, setPaused] = useState<readonly string[]>([])
  const name = table.table_path
  const [isPausing, pause] = useAction(texts.pause, async () => {
    const done = await pauseChecks(table.asset_id)
    setPaused(done)
    notify(texts.paused(done.length, name))
    reload()
  })
  const [isResuming, resume] = useAction(texts.resume, async () => {
    for (const check of paused) await updateCheck(table.asset_id, check, { is_active: true })
    setPaused([])
    notify(texts.resumed(paused.length, name))
    reload()
  })
  if (paused.length > 0)
    return html`<button
      class="small"
      disabled=${isResuming}
      aria-label=${texts.resumeOf(name)}
      onClick=${resume}
    >
      ${texts.resume}
    </button>`
  if (table.active_checks === 0) return html`<span class="quiet">${texts.allPaused}</span>`
  return html`<button class="small" disabled=${isPausing} aria-label=${texts.pauseOf(name)} onClick=${pause}>
    ${texts.pause}
  </button>`
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
