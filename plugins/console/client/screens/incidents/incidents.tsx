import { useEffect } from 'preact/hooks'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { navigate, useQuery } from '../../lib/router.ts'
import { useTitle } from '../../parts/frame.tsx'
import { lazy } from '../../parts/lazy.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { incidentTexts as texts } from './texts.ts'
import type { ScreenProps } from '../props.ts'
import { IncidentPage } from './incident-page.tsx'

const IncidentList = lazy(async () => (await import('./incident-list.tsx')).IncidentList)

/** What belongs together of all alerts: the incidents, one of them, or that of an alert. */
export function Incidents({ name }: ScreenProps) {
  const [query] = useQuery()
  useTitle(texts.title)
  if (name) return <IncidentPage key={name} id={name} />
  const alert = query.get('alert')
  return alert ? <OfAlert key={alert} alert={alert} /> : <IncidentList />
}

/** Goes on to the incident of an alert: the list of alerts does not know it, and need not ask for each. */
function OfAlert({ alert }: { alert: string }) {
  const asked = useData(`incident of ${alert}`, async signal => {
    const { data } = await api.get('/api/v1/sdk/incidents', { query: { alert_id: alert, limit: 1 }, signal })
    return data.incidents
  })
  const id = asked.data?.[0]?.id
  useEffect(() => {
    if (id) navigate(`/incidents/${id}`, { replace: true })
  }, [id])
  return (
    <div class="page">
      <Loaded of={asked} what={texts.incident.toLowerCase()} rows={6}>
        {() =>
          !id && (
            <Empty title="No incident has this alert" isScreen={true}>
              <p>Alerts are grouped some seconds after they are raised.</p>
              <p>
                <a class="button" href={`/alerts/${encodeURIComponent(alert)}`}>
                  {texts.alerts}
                </a>
              </p>
            </Empty>
          )
        }
      </Loaded>
    </div>
  )
}
