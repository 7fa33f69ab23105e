/** The band with which an alert was raised stays the one that is shown while its value is the same. */
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { Capture, JudgedSeries, JudgedValue } from '../kind.ts'
import { seriesJson } from '../past/points.ts'

type ShownBand = Pick<JudgedValue, 'value' | 'expected' | 'low' | 'high' | 'zScore'> & {
  place: number
  basis: unknown
}

/** The last result of each series, if it counted on the alert that is given. */
const LAST_RESULTS = `
  select g.place, last.value, last.expected, last.low, last.high, last.z_score, last.basis
  from jsonb_to_recordset(cast(:series as jsonb)) as g(place integer, check_id bigint, series jsonb)
  join unnest(cast(:places as integer[]), cast(:alerts as uuid[])) as a(place, alert_id) on a.place = g.place
  cross join lateral (
    select r.value, r.expected, r.low, r.high, r.z_score, r.details -> 'basis' as basis from check_results r
    where r.company_id = :companyId and r.alert_id = a.alert_id and r.check_id = g.check_id and r.series = g.series
    order by r.at desc, r.id desc limit 1
  ) last`

/**
 * Gives results that count on an alert, with the value that the last one had, the band of that: what was learned of the
 * value meanwhile must not make it look less unusual. A bucket of time has a band of its own.
 * @param alerts the ongoing alert of each series that counts on one
 */
export async function keepBands(
  trx: Transaction,
  captures: readonly Capture[],
  alerts: ReadonlyMap<JudgedSeries, string>,
): Promise<void> {
  const repeated = captures.flatMap(({ row, judged, bucket }) =>
    judged.flatMap(item => {
      const alertId = alerts.get(item)
      const isBanded = !bucket && item.judged.low !== null
      return alertId !== undefined && isBanded ? [{ row, series: item.series, item, alertId }] : []
    }),
  )
  if (repeated.length === 0) return
  const lasts = await rows<ShownBand>(trx, LAST_RESULTS, {
    companyId: companyOf(trx),
    series: seriesJson(repeated),
    places: repeated.map((_, place) => place),
    alerts: repeated.map(({ alertId }) => alertId),
  })
  for (const { place, value, basis, ...band } of lasts) {
    const { judged } = repeated[place]!.item
    if (value !== judged.value) continue
    Object.assign(judged, band)
    if ('basis' in judged.details) judged.details = { ...judged.details, basis }
  }
}
