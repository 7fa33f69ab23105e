import { useMemo } from 'preact/hooks'
import { useData } from '../../lib/data.ts'
import { countOf, formatNumber } from '../../lib/format.ts'
import { canWrite } from '../../lib/session.ts'
import { LazyChart } from '../../parts/series-chart.tsx'
import { Loaded } from '../../parts/states.tsx'
import { recommendationTexts as texts } from './texts.ts'
import { testRecommendation, type Recommendation } from './requests.ts'

/** What a recommendation is founded on, what it creates, and what it would have said. */
export function Details({ recommendation }: { recommendation: Recommendation }) {
  const { evidence, config, parent, quiet_by: quiet } = recommendation
  const settings = parent ? { parent: `${parent.table_path}.${parent.column_name}`, ...config } : config
  return (
    <div class="recommendation">
      <div>
        <h2>Evidence</h2>
        <Facts of={evidence} />
        {quiet && <p>{texts.quiet[quiet]}</p>}
        {Object.keys(settings).length > 0 && (
          <>
            <h2>Settings of the check</h2>
            <Facts of={settings} />
          </>
        )}
      </div>
      <div>
        <h2>{texts.past}</h2>
        <Past recommendation={recommendation} />
      </div>
    </div>
  )
}

function Facts({ of: facts }: { of: object }) {
  return (
    <dl class="facts-list">
      {Object.entries(facts).map(([name, value]) => (
        <>
          <dt key={name}>{name.replaceAll('_', ' ')}</dt>
          <dd>
            <bdi>{describeFact(value)}</bdi>
          </dd>
        </>
      ))}
    </dl>
  )
}

function describeFact(value: unknown): string {
  if (typeof value === 'number') return formatNumber(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.map(String).join(', ')
  return value === null ? '–' : String(value)
}

/** A person who may not write causes no statement at a source: they see what was computed before. */
function Past({ recommendation }: { recommendation: Recommendation }) {
  const { id, past } = recommendation
  const tried = useData(canWrite() ? `past ${id}` : null, signal => testRecommendation(id, signal))
  if (!canWrite()) return <p>{past ? describePast(past) : texts.notTried}</p>
  return (
    <Loaded of={tried} what={texts.past.toLowerCase()} rows={4}>
      {(found: Recommendation) => <PastChart recommendation={found} />}
    </Loaded>
  )
}

function describePast({ message, alerts }: NonNullable<Recommendation['past']>): string {
  return `${alerts === null ? '' : `${alerts === 0 ? 'No alert.' : `${countOf(alerts, 'alert')}.`} `}${message}.`
}

function PastChart({
  recommendation: { past, type, column_name: column },
}: {
  recommendation: Recommendation
}) {
  const points = useMemo(
    () =>
      (past?.series ?? []).map(({ at, value, low, high, is_alert: isAnomaly }) => ({
        ...{ at: Date.parse(at), value, low, high, isAnomaly },
      })),
    [past],
  )
  if (!past) return <p>{texts.notTried}</p>
  return (
    <>
      <p>{describePast(past)}</p>
      {points.length > 1 && (
        <div class="chart-box">
          <LazyChart
            title={`${[type, column].filter(Boolean).join(' ')} in the last 60 days`}
            unit={type === 'freshness' ? 'h' : ''}
            points={points}
          />
        </div>
      )}
    </>
  )
}
