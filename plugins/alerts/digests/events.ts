/** Reads what happened in a period: each in one statement. */
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { OwnedAssets, Severity, Unwatched } from '../api.ts'
import type { Deps } from '../deps.ts'
import { routineNames } from '../kinds.ts'
import { IS_OPEN, NOT_DEMO } from '../models.ts'
import { IS_ACTIVE } from '../incidents/models.ts'

/** Lines of a section. */
const MAX_LINES = 5
/** Problems that were found sooner are not called late. */
const LATE_MINUTES = 60

/** A check with one alert is not noisy. */
const MIN_NOISY_ALERTS = 2

export interface DigestIncident {
  id: string
  title: string
  severity: Severity
  isActive: boolean
  /** From the begin of the problem to the incident; null where the evidence shows no begin. */
  minutesToNotice: number | null
}

export interface DigestEvents {
  counts: { incidents: number; alerts: number; openAlerts: number }
  /** The worst first. */
  incidents: DigestIncident[]
  /** Those that were noticed late, the latest first. */
  late: DigestIncident[]
  /** Tables and sources with the most alerts. */
  tables: { id: string; type: string; qualifiedName: string; alerts: number; open: number }[]
  /** Checks with the most alerts. */
  noisy: { ruleName: string; qualifiedName: string; alertId: string; alerts: number; dismissed: number }[]
  /** Absent where no feature counts it. */
  unwatched: Unwatched | undefined
}

/** Reads what happened, in four statements. @param owner as a digest stores it @throws 400 for an owner that is gone */
export async function readEvents(
  { kinds, lookUps }: Pick<Deps, 'kinds' | 'lookUps'>,
  trx: Transaction,
  { since, until, owner }: { since: Date; until: Date; owner: string | null },
): Promise<DigestEvents> {
  const owned = owner === null ? undefined : await lookUps.owners?.ownedAssetsQuery(trx, owner)
  const bindings = {
    ...owned?.bindings,
    companyId: companyOf(trx),
    routineKinds: routineNames(kinds),
    since,
    until,
  }
  const [counts] = await rows<Omit<DigestEvents, 'unwatched'>>(trx, eventsQuery(owned), bindings)
  const unwatched = await lookUps.watch?.readUnwatched(trx, owned)
  return { ...counts!, unwatched }
}

/** A JSON list of the first rows of a SELECT, in its order. */
const listOf = (select: string) =>
  `coalesce((select jsonb_agg(to_jsonb(listed)) from (${select}) listed), '[]')`

/** Everything in one row, so that an alert which opens meanwhile is in all parts or in none. */
function eventsQuery(owned: OwnedAssets | undefined): string {
  const isOwned = (asset: string) =>
    owned === undefined ? 'true' : `${asset} in (select asset_id from owned)`
  return `
  with ${owned === undefined ? '' : `owned as materialized (select asset_id from (${owned.text}) o),`}
  opened as materialized (
    select id, asset_id, kind, cause, rule_name, created_at, status, ${IS_OPEN} as is_open, event -> 'asset' as asset
      from alerts
     where company_id = :companyId and created_at >= :since and created_at < :until
       and kind <> all(cast(:routineKinds as text[])) and ${NOT_DEMO} and ${isOwned('coalesce(asset_id, source_id)')}),
  begun as materialized (
    select id, title, severity, created_at, ${IS_ACTIVE} as "isActive",
           extract(epoch from created_at - started_at)::float / 60 as "minutesToNotice"
      from incidents i
     where company_id = :companyId and created_at >= :since and created_at < :until and merged_into is null
       and ${
         owned === undefined
           ? 'true'
           : `exists (
         select from incident_alerts m join alerts a on a.company_id = :companyId and a.id = m.alert_id
          where m.company_id = :companyId and m.incident_id = i.id and ${isOwned('coalesce(a.asset_id, a.source_id)')})`
       })
  select jsonb_build_object(
           'incidents', (select count(*) from begun),
           'alerts', (select count(*) from opened),
           'openAlerts', (select count(*) from opened where is_open)) as counts,
    ${listOf(`select id, title, severity, "isActive", "minutesToNotice" from begun
      order by array_position(array['critical', 'warning', 'info'], severity), created_at desc, id limit ${MAX_LINES}`)} as incidents,
    ${listOf(`select id, title, severity, "isActive", "minutesToNotice" from begun
      where "minutesToNotice" >= ${LATE_MINUTES} order by "minutesToNotice" desc, id limit ${MAX_LINES}`)} as late,
    ${listOf(`select asset ->> 'id' as id, (array_agg(asset ->> 'asset_type'))[1] as type,
        (array_agg(asset ->> 'qualified_name' order by created_at desc))[1] as "qualifiedName",
        count(*) as alerts, count(*) filter (where is_open) as open
      from opened group by asset ->> 'id' order by alerts desc, open desc, id limit ${MAX_LINES}`)} as tables,
    ${listOf(`select (array_agg(rule_name order by created_at desc))[1] as "ruleName",
        (array_agg(asset ->> 'qualified_name' order by created_at desc))[1] as "qualifiedName",
        (array_agg(id order by created_at desc))[1] as "alertId",
        count(*) as alerts, count(*) filter (where status = 'dismissed') as dismissed
      from opened group by kind, cause having count(*) >= ${MIN_NOISY_ALERTS}
      order by alerts desc, dismissed desc, kind, cause limit ${MAX_LINES}`)} as noisy`
}
