import type { Alert, AlertInContext } from 'tidemark/client'
import { CopyButton } from '../forms/secret.tsx'
import type { Data } from '../lib/data.ts'
import { countOf, formatTime, inWords } from '../lib/format.ts'
import { assetAddress, useQuery, withQuery } from '../lib/router.ts'
import { Icon } from '../parts/icons.tsx'
import { Loaded, Skeleton } from '../parts/states.tsx'
import { Severity, Status } from '../parts/status.tsx'
import { Ago } from '../parts/time.tsx'
import { texts } from '../texts.ts'
import { contractAddress } from './contracts/contract-address.ts'
import { MoveButtons, type Move } from './alert-moves.tsx'
import { Downstream, Findings, Upstream } from './alert/context.tsx'
import { Deliveries } from './alert/deliveries.tsx'
import { AssignButton, People } from './alert/people.tsx'
import { alertTexts } from './alert/texts.ts'
import { Evidence, RowsOf } from './evidence.tsx'

/** What is wrong, since when, with what it is connected, and what to do. */
export function AlertDetail({
  alert,
  context,
  isRead,
  begin,
  changed,
}: {
  alert: Alert
  context: Data<AlertInContext>
  /** A person who skims the list by key does not need what each alert rests on. */
  isRead: boolean
  begin: (move: Move, alert: Alert) => void
  changed: (alert: Alert) => void
}) {
  const [query] = useQuery()
  const { explanation } = alert.event.details as { explanation?: unknown }
  return (
    <article aria-labelledby="alert-title">
      <a class="back" href={withQuery('/alerts', {}, query)}>
        All alerts
      </a>
      <h2 id="alert-title">
        <bdi>{alert.title}</bdi>
      </h2>
      <p class="facts">
        <Severity level={alert.severity} /> <Status status={alert.status} />
        {alert.snoozed_until && <span class="quiet">{texts.until(formatTime(alert.snoozed_until))}</span>}
        {alert.muted_until && (
          <Status status="muted" word={texts.mutedUntil(formatTime(alert.muted_until))} />
        )}
        <span>
          {texts.openedAt} <Ago at={alert.created_at} />
        </span>
        <span class="quiet">
          {texts.lastSeen} <Ago at={alert.last_seen_at} />, {countOf(alert.occurrences, 'occurrence')}
        </span>
      </p>
      <p class="facts">
        <a href={assetAddress(alert.asset)}>
          <Icon name="catalog" /> <bdi>{alert.qualified_name}</bdi>
        </a>
        <span class="quiet">{inWords(alert.event_type)}</span>
      </p>
      <div class="actions alert-actions">
        <MoveButtons alerts={[alert]} begin={(move: Move) => begin(move, alert)} />
        <AssignButton alert={alert} changed={changed} />
        <CopyButton text={alert.links.alert_url} label={alertTexts.copyLink} isSmall={false} />
      </div>
      <BrokenContracts alert={alert} />
      {isRead ? (
        <>
          <Loaded of={context} what="the alert" rows={3}>
            {(known: AlertInContext) => (
              <>
                <IncidentOf alert={known} />
                <Findings alert={known} />
              </>
            )}
          </Loaded>
          <Evidence alert={alert} />
          {typeof explanation === 'string' && (
            <details class="section">
              <summary>{alertTexts.why}</summary>
              <p>{explanation}</p>
            </details>
          )}
          {
            // The box above says why it is missing.
            context.data === undefined ? (
              context.error === undefined && <Skeleton rows={9} />
            ) : (
              <>
                <Upstream alert={context.data} />
                <Downstream alert={context.data} />
                <People alert={context.data} reload={context.reload} />
              </>
            )
          }
        </>
      ) : (
        <Skeleton rows={9} />
      )}
      <RowsOf alert={alert} />
      <Deliveries id={alert.id} />
    </article>
  )
}

/** The incident of an alert by its title, which names the cause. */
function IncidentOf({ alert: { incident } }: { alert: AlertInContext }) {
  if (!incident) return null
  return (
    <p>
      {alertTexts.incident}:{' '}
      <a href={`/incidents/${incident.id}`}>
        <bdi>{incident.title}</bdi>
      </a>
      {incident.is_cause && <span class="quiet"> ({alertTexts.isCause})</span>}
    </p>
  )
}

/** The contracts that rely on the check, with the clauses that fail with it. */
function BrokenContracts({ alert }: { alert: Alert }) {
  const { contracts = [] } = alert.event.details as { contracts?: { contract: string; clause: string }[] }
  return contracts.map(({ contract, clause }) => (
    <p key={`${contract} ${clause}`}>
      {texts.contract}{' '}
      <a href={contractAddress(contract)}>
        <bdi>{contract}</bdi>
      </a>
      : <bdi>{clause}</bdi>
    </p>
  ))
}
