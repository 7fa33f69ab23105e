import { useRef, useState } from 'preact/hooks'
import type { AlertPreview, PreviewAlertRuleRequest } from 'tidemark/client'
import { api } from '../../lib/api.ts'
import { useData, useDebounced } from '../../lib/data.ts'
import { formatNumber } from '../../lib/format.ts'
import { Loaded } from '../../parts/states.tsx'
import { Shape, toneOf } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import { routingTexts } from './texts.ts'
import { destinationAddress } from './addresses.ts'

const SHOWN_ALERTS = 10
const SPANS_DAYS = [1, 7, 30] as const
const TYPING_MS = 400

/** What a rule, stored or not, would have sent; it follows the form. */
export function RulePreview({ body }: { body: PreviewAlertRuleRequest }) {
  const [days, setDays] = useState<number>(7)
  const key = useDebounced(JSON.stringify({ ...body, days_back: days, limit: SHOWN_ALERTS }), TYPING_MS)
  const asked = useData(`preview ${key}`, async signal => {
    const { data } = await api.post('/api/v1/sdk/alerts/preview', {
      body: JSON.parse(key) as PreviewAlertRuleRequest,
      signal,
    })
    return data
  })
  // The last one stays until the next is there: the form must not jump at every letter.
  const last = useRef<AlertPreview | undefined>(undefined)
  if (asked.data) last.current = asked.data
  const shown = { ...asked, data: asked.data ?? last.current }
  return (
    <section class="side preview" aria-labelledby="preview-title" aria-busy={asked.isLoading}>
      <header>
        <h2 id="preview-title">{routingTexts.previewTitle}</h2>
        <select
          aria-label="Time"
          value={String(days)}
          onChange={(event: Event) => setDays(Number((event.target as HTMLSelectElement).value))}
        >
          {SPANS_DAYS.map(span => (
            <option key={span} value={String(span)}>
              {routingTexts.spans[span]}
            </option>
          ))}
        </select>
      </header>
      <Loaded of={shown} what={routingTexts.previewTitle.toLowerCase()} rows={6}>
        {(preview: AlertPreview) => <Outcome preview={preview} />}
      </Loaded>
      <p class="quiet">As if this were the only rule. Nothing is sent.</p>
    </section>
  )
}

function Outcome({ preview }: { preview: AlertPreview }) {
  const { matched, told, postponed, held_back: heldBack, alerts, destinations } = preview
  const sent = told + postponed
  return (
    <>
      <p role="status" class="number">
        <strong>{routingTexts.previewCount(sent, matched)}</strong>
        {sent > 0 && (
          <>
            {' '}
            <span class="quiet">
              {routingTexts.perDay(
                formatNumber(Number(((sent * 24) / preview.lookback_hours).toPrecision(2))),
              )}
            </span>
          </>
        )}
      </p>
      {postponed > 0 && <p>{routingTexts.later(postponed)}</p>}
      {heldBack > 0 && <p>{routingTexts.heldBack(heldBack)}</p>}
      {destinations.length === 0 ? (
        <p class="quiet">Choose a destination to see how many messages it would have got.</p>
      ) : (
        <>
          <h3>Messages by destination</h3>
          <ul class="counts">
            {destinations.map(({ id, name, messages, is_active: isActive }) => (
              <li key={id}>
                <a href={destinationAddress(id)}>
                  <bdi>{name}</bdi>
                </a>
                <span>
                  {formatNumber(messages)}
                  {!isActive && ` (${routingTexts.paused})`}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      {alerts.length > 0 && (
        <>
          <h3>Alerts</h3>
          {matched > alerts.length && <p class="quiet">{routingTexts.newestOf(alerts.length, matched)}</p>}
          <ul class="previewed">
            {alerts.map(({ id, title, severity, created_at: at, outcome }) => (
              <li key={id}>
                <Shape tone={toneOf(severity)} />
                <span class="hidden">{severity}</span>
                <a href={`/alerts/${id}`}>
                  <bdi>{title}</bdi>
                </a>
                <span class="quiet">
                  {routingTexts.outcomes[outcome]}, <Ago at={at} />
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}
