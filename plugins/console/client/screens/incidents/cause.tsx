import { useMemo } from 'preact/hooks'
import { inWords } from '../../lib/format.ts'
import { checkAddress, tableAddress } from '../../lib/router.ts'
import { GivenMarks } from '../../parts/chart/given-marks.ts'
import type { ChartMark } from '../../parts/chart/points.ts'
import { Help } from '../../parts/help.tsx'
import { Ago } from '../../parts/time.tsx'
import { Evidence, RowsOf } from '../evidence.tsx'
import { Facts, factsOf } from '../alert/facts.tsx'
import { namesOf } from './names.ts'
import { Reach } from './reach.tsx'
import type { Downstream, Incident } from './requests.ts'
import { incidentTexts as texts } from './texts.ts'

/** What is named as the cause with its numbers, how sure that is, and the chart of its check. */
export function Cause({ incident, lineage }: { incident: Incident; lineage: Downstream }) {
  const { root_cause: cause, cause_alert: alert, last_run: run } = incident
  const marks = useMemo(() => marksOf(incident), [incident])
  const others = cause.evidence.slice(1)
  return (
    <section class="incident-cause">
      <h2>
        {texts.happened}
        <Help page="incidents" about={texts.happened} />
      </h2>
      <div class="columns">
        <div>
          <p>
            <a href={tableAddress(cause.qualified_name)} title={cause.qualified_name}>
              <bdi>{namesOf(incident).get(cause.qualified_name)}</bdi>
            </a>{' '}
            {texts.symptoms[cause.symptom] ?? inWords(cause.symptom)}. {texts.began}{' '}
            <Ago at={incident.started_at ?? cause.at} />.
          </p>
          {cause.summary !== incident.title && (
            <p>
              <bdi>{cause.summary}</bdi>
            </p>
          )}
          {alert && <Facts of={factsOf(alert)} />}
          {cause.explanation && (
            <p>
              <bdi>{cause.explanation}</bdi>.
            </p>
          )}
          {run && (
            <p>
              {texts.lastRun}{' '}
              <a href={tableAddress(cause.qualified_name, 'lineage')}>
                <bdi>{run.job}</bdi>
              </a>
              : <span class={run.state === 'failed' ? 'bad' : ''}>{run.state}</span> <Ago at={run.at} />
              {run.error_message && (
                <code>
                  <bdi>{run.error_message}</bdi>
                </code>
              )}
            </p>
          )}
          {others.length > 0 && (
            <>
              <h3>{texts.evidence}</h3>
              <ul class="timeline">
                {others.map((each, n) => (
                  <li key={n}>
                    {each.alert_id ? (
                      <a href={`/alerts/${each.alert_id}`}>
                        <bdi>{each.summary}</bdi>
                      </a>
                    ) : (
                      <bdi>{each.summary}</bdi>
                    )}
                    <Ago at={each.at} />
                  </li>
                ))}
              </ul>
            </>
          )}
          <p class="actions above">
            <CauseLinks incident={incident} />
          </p>
          <Reach root={cause} lineage={lineage} />
        </div>
        {alert && (
          <GivenMarks.Provider value={marks}>
            <div class="incident-chart">
              <Evidence alert={alert} />
            </div>
          </GivenMarks.Provider>
        )}
      </div>
      {alert && <RowsOf alert={alert} />}
    </section>
  )
}

/** Kinds of alerts whose rule is a check with a page. */
const CHECK_KINDS = new Set([
  'metric_anomaly',
  'validity_failure',
  'referential_failure',
  'comparison_failure',
])
const TABS: Record<string, string> = { freshness_violation: 'freshness' }

function CauseLinks({ incident: { root_cause: cause, cause_alert: alert } }: { incident: Incident }) {
  const { event_type: kind = '', rule_id: id = null } = alert ?? {}
  const { qualified_name } = cause
  const tab = TABS[kind]
  return (
    <>
      {id !== null && CHECK_KINDS.has(kind) && (
        <a class="button small" href={checkAddress({ id, qualified_name })}>
          {texts.openCheck}
        </a>
      )}
      {tab && (
        <a class="button small" href={tableAddress(qualified_name, tab)}>
          {texts.openTab[tab]}
        </a>
      )}
      {alert && (
        <a class="button small" href={`/alerts/${alert.id}`}>
          {texts.openAlert}
        </a>
      )}
    </>
  )
}

/** The incident on the time axis, with the changes and runs that may have caused it. */
function marksOf({ created_at: at, root_cause: cause, last_run: run }: Incident): ChartMark[] {
  return [
    ...cause.evidence.flatMap(({ symptom, at: found, summary }): ChartMark[] =>
      symptom === 'drift' ? [{ at: Date.parse(found), kind: 'change', text: summary }] : [],
    ),
    ...(run ? [{ at: Date.parse(run.at), kind: 'run' as const, text: `${run.state} ${run.job}` }] : []),
    { at: Date.parse(at), kind: 'incident' },
  ]
}
