import { Fragment } from 'preact'
import type { AlertInContext } from 'tidemark/client'
import { formatTime } from '../../lib/format.ts'
import { tableAddress } from '../../lib/router.ts'
import { Shape, toneOf } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import { Facts, factsOf } from './facts.tsx'
import { AssetName, hasPage } from '../impact/asset-name.tsx'
import { alertTexts as texts, describeValue } from './texts.ts'

type Of = { alert: AlertInContext }

/** What was found, what was expected, and when all was well. */
export function Findings({ alert }: Of) {
  const { last_pass: pass, event, event_type: kind } = alert
  const details = event.details as { metric_type?: string; last_updated?: string | null }
  const value = pass && describeValue(kind, details, pass.value)
  // How old data was when it was last in time says less than when it came.
  const newest = kind === 'freshness_violation' ? details.last_updated : undefined
  if (!alert.finding?.expected && !pass && !newest) return null
  const facts = [
    ...factsOf(alert),
    [
      texts.newest,
      newest && (
        <>
          {formatTime(newest)}{' '}
          <span class="quiet">
            (<Ago at={newest} />)
          </span>
        </>
      ),
    ],
    [
      texts.lastPass,
      pass &&
        !newest &&
        (pass.at === null ? (
          <span class="quiet">{texts.neverPassed}</span>
        ) : (
          <>
            {value && `${value}, `}
            <span class="quiet" title={formatTime(pass.at)}>
              <Ago at={pass.at} />
            </span>
          </>
        )),
    ],
  ] as const
  return <Facts of={facts} />
}

/** What is wrong with the tables from which the table of the alert is made. */
export function Upstream({ alert: { upstream, downstream } }: Of) {
  if (!upstream) return null
  return (
    <section>
      <h3>{texts.upstream}</h3>
      {upstream.failing.length > 0 ? (
        <>
          <ul class="timeline">
            {upstream.failing.map(({ alert_id: id, severity, title, steps }) => (
              <li key={id}>
                <a href={`/alerts/${id}`}>
                  <Shape tone={toneOf(severity)} />
                  <span class="hidden">{severity}</span> <bdi>{title}</bdi>
                </a>
                <span class="quiet">{texts.steps(steps)}</span>
              </li>
            ))}
          </ul>
          <p class="quiet">
            {[
              upstream.failing_count > upstream.failing.length &&
                texts.more(upstream.failing_count - upstream.failing.length),
              upstream.unwatched_count > 0 && texts.upstreamUnwatched(upstream.unwatched_count),
            ]
              .filter(Boolean)
              .join(', ')}
          </p>
        </>
      ) : (
        <p>{describeQuiet(upstream, downstream)}.</p>
      )}
    </section>
  )
}

function describeQuiet(
  { table_count: tables, unwatched_count: unwatched }: NonNullable<AlertInContext['upstream']>,
  downstream: AlertInContext['downstream'],
): string {
  if (tables > 0) return texts.upstreamOk(tables - unwatched, unwatched)
  return downstream && downstream.table_count + downstream.dashboard_count > 0
    ? texts.noUpstream
    : texts.noLineage
}

/** What is made from the table of the alert, and whom to notify. */
export function Downstream({ alert: { downstream: reach, qualified_name: table } }: Of) {
  if (!reach) return null
  const { table_count: tables, dashboard_count: dashboards, owners } = reach
  return (
    <section>
      <h3>{texts.downstream}</h3>
      {tables + dashboards === 0 ? (
        <p>{texts.noDownstream}.</p>
      ) : (
        <>
          <p>
            {tables > 0 && (
              <>
                <a href={tableAddress(table, 'lineage')}>{texts.tables(tables)}</a>:{' '}
                {namesOf(reach.tables, tables)}
              </>
            )}
          </p>
          {dashboards > 0 && (
            <p>
              {texts.dashboards(
                dashboards,
                reach.dashboards.every(({ asset_type: kind }) => kind === 'dashboard'),
              )}
              : {namesOf(reach.dashboards, dashboards)}
            </p>
          )}
          {owners.length > 0 && (
            <p>
              {texts.owners}: <bdi>{owners.map(({ name }) => name).join(', ')}</bdi>
            </p>
          )}
          {!reach.is_complete && <p class="quiet">{texts.isIncomplete}</p>}
        </>
      )}
    </section>
  )
}

type Reached = NonNullable<AlertInContext['downstream']>['tables'][number]

function namesOf(assets: readonly Reached[], count: number) {
  return (
    <>
      {assets.map((asset, n) => (
        <Fragment key={asset.id}>
          {n > 0 && ', '}
          <AssetName of={asset} isTable={hasPage(asset.asset_type)} />
        </Fragment>
      ))}
      {count > assets.length && ` ${texts.more(count - assets.length)}`}
    </>
  )
}
