import { formatNumber } from '../lib/format.ts'
import type { api } from '../lib/api.ts'
import { texts } from '../texts.ts'
import type { Column } from './table/data-table.tsx'
import { Sparkline } from './sparkline.tsx'
import { Status } from './status.tsx'
import { Ago } from './time.tsx'

/** A check as the API lists it. */
export type Check = Awaited<ReturnType<typeof api.get<'/api/v1/sdk/checks'>>>['data']['items'][number]

/** Whether a check is paused, and what manages it. */
export const CheckMarks = ({ of: { is_active: isActive, managed_by: owner } }: { of: Check }) => (
  <>
    {!isActive && (
      <>
        {' '}
        <Status status="paused" />
      </>
    )}
    {owner && (
      <small class="quiet below" title={owner.file}>
        managed by {owner.file.split('/').at(-1)}
      </small>
    )}
  </>
)

/** The status of a check, a link to its open alert, if there is one. */
export const STATUS_COLUMN: Column<Check> = {
  label: texts.status,
  cellClass: 'state',
  cell: check => {
    const status = <Status status={check.status} />
    return check.open_alert_id ? <a href={`/alerts/${check.open_alert_id}`}>{status}</a> : status
  },
}

/** What a check measured last, its last values, its interval, and when it ran. */
export const RESULT_COLUMNS: Column<Check>[] = [
  {
    label: texts.value,
    className: 'right',
    cell: ({ points, kind, type }) => {
      const last = points.at(-1)
      return last
        ? `${formatNumber(last.value)}${kind === 'validity' || type === 'null_percent' ? ' %' : ''}`
        : '–'
    },
  },
  {
    label: 'Last values',
    cellClass: 'wide-only',
    cell: check => <Sparkline points={check.points} />,
  },
  { label: 'Interval', sort: { name: 'interval' }, cellClass: 'quiet', cell: check => check.interval },
  {
    label: texts.checkedAt,
    sort: { name: 'last_checked_at', first: 'desc' },
    cell: check => <Ago at={check.last_checked_at} />,
  },
]
