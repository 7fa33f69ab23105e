import { formatNumber } from '../lib/format.ts'
import { html } from '../lib/html.ts'
import type { api } from '../lib/api.ts'
import { Sparkline } from './sparkline.ts'
import { Status } from './status.ts'
import { Ago } from './time.ts'

/** A check as the API lists it. */
export type Check = Awaited<ReturnType<typeof api.get<'/api/v1/sdk/checks'>>>['data']['items'][number]

/** The status of a check, a link to its open alert, if there is one. */
export function CheckStatus({ check }: { check: Check }) {
  const status = html`<${Status} status=${check.status} />`
  return check.open_alert_id ? html`<a href=${`/alerts/${check.open_alert_id}`}>${status}</a>` : status
}

/** What a check measured last, its last values, its interval, and when it ran: four cells. */
export function CheckCells({ check }: { check: Check }) {
  const last = check.points.at(-1)
  return html`<td class="right">
      ${last ? `${formatNumber(last.value)}${check.kind === 'validity' ? ' %' : ''}` : '–'}
    </td>
    <td><${Sparkline} points=${check.points} /></td>
    <td class="quiet">${check.interval}</td>
    <td><${Ago} at=${check.last_checked_at} /></td>`
}
