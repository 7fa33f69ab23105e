import { useState } from 'preact/hooks'
import { api } from '../lib/api.ts'
import { html } from '../lib/html.ts'
import { updatePreferences, type Preferences } from '../lib/session.ts'
import { useSession, useTitle } from '../parts/frame.ts'
import { Help } from '../parts/help.ts'
import { describeError, Empty } from '../parts/states.ts'
import { texts } from '../texts.ts'

const PAGE_SIZES = [25, 50, 100]

/** The preferences of the user; each change is saved at once. */
export function Settings() {
  const { user, preferences } = useSession()
  const [message, setMessage] = useState({ text: '', isError: false })
  useTitle(texts.settings)
  if (!user || !preferences) return html`<div class="page"><${Empty} title=${texts.noSettings} /></div>`
  const save = async (changes: Partial<Preferences>) => {
    const before = preferences
    updatePreferences({ ...preferences, ...changes })
    try {
      const { data } = await api.patch('/api/v1/auth/preferences', { body: changes })
      updatePreferences(data)
      setMessage({ text: texts.saved, isError: false })
    } catch (error) {
      updatePreferences(before)
      setMessage({ text: describeError(error), isError: true })
    }
  }
  const valueOf = (event: Event) => (event.target as HTMLSelectElement).value
  const zones = Intl.supportedValuesOf('timeZone')
  return html`<div class="page narrow">
    <h1>${texts.settings}<${Help} page="preferences#preferences" about=${texts.settings} /></h1>
    <fieldset class="choices">
      <legend>${texts.theme}</legend>
      ${Object.entries(texts.themes).map(
        ([theme, text]) =>
          html`<label key=${theme}
            ><input
              type="radio"
              name="theme"
              value=${theme}
              checked=${preferences.theme === theme}
              onChange=${() => void save({ theme: theme as Preferences['theme'] })}
            />
            ${text}</label
          >`,
      )}
    </fieldset>
    <label class="field">
      <span>${texts.timezone}</span>
      <select
        value=${preferences.timezone}
        onChange=${(event: Event) => void save({ timezone: valueOf(event) })}
      >
        ${[...new Set([preferences.timezone, 'UTC', ...zones])].map(
          zone => html`<option key=${zone} value=${zone}>${zone}</option>`,
        )}
      </select>
    </label>
    <label class="field">
      <span>${texts.pageSize}</span>
      <select
        value=${String(preferences.table_page_size)}
        onChange=${(event: Event) => void save({ table_page_size: Number(valueOf(event)) })}
      >
        ${[...new Set([...PAGE_SIZES, preferences.table_page_size])]
          .sort((a, b) => a - b)
          .map(size => html`<option key=${size} value=${String(size)}>${size}</option>`)}
      </select>
    </label>
    <p role="status" class=${message.isError ? 'bad' : 'quiet'}>${message.text}</p>
    <h2>${texts.you}</h2>
    <dl class="facts">
      <div>
        <dt>${texts.email}</dt>
        <dd><bdi>${user.email}</bdi></dd>
      </div>
      <div>
        <dt>${texts.role}</dt>
        <dd>${user.role}</dd>
      </div>
      <div>
        <dt>${texts.company}</dt>
        <dd><bdi>${user.company.name}</bdi></dd>
      </div>
    </dl>
  </div>`
}
