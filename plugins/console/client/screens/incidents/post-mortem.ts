import { useState } from 'preact/hooks'
import { FormDialog } from '../../forms/form-dialog.ts'
import type { FieldSpec } from '../../forms/schema.ts'
import { html } from '../../lib/html.ts'
import { canWrite } from '../../lib/session.ts'
import { incidentTexts as texts } from './texts.ts'
import { changeIncident, type Incident } from './requests.ts'

const SPECS: FieldSpec[] = [
  {
    ...{ name: 'post_mortem', label: texts.postMortem, kind: 'long' },
    ...{ hint: 'What happened, why, and what follows from it.', maxLength: 50_000 },
  },
]

/** What people learned from an incident; while it lasts there is only what was written already. */
export function PostMortem({ incident, reload }: { incident: Incident; reload: () => void }) {
  const [isOpen, setOpen] = useState(false)
  const { id, post_mortem: text, resolved_at: end } = incident
  if (text === null && end === null) return null
  return html`<section>
    <h2>${texts.postMortem}</h2>
    ${text ? html`<p class="prose"><bdi>${text}</bdi></p>` : html`<p class="quiet">Nothing is written yet.</p>`}
    ${canWrite() && html`<p><button class="small" onClick=${() => setOpen(true)}>${text ? texts.change : texts.write}</button></p>`}
    ${
      isOpen &&
      html`<${FormDialog}
        title=${texts.postMortem}
        id=${`post-mortem ${id}`}
        specs=${SPECS}
        record=${incident}
        send=${async (body: object) => {
          await changeIncident(id, body)
          reload()
        }}
        close=${() => setOpen(false)}
      />`
    }
  </section>`
}
