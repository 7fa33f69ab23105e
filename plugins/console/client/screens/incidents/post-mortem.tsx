import { useState } from 'preact/hooks'
import { FormDialog } from '../../forms/form-dialog.tsx'
import type { FieldSpec } from '../../forms/schema.ts'
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
  return (
    <section>
      <h2>{texts.postMortem}</h2>
      {text ? (
        <p class="prose">
          <bdi>{text}</bdi>
        </p>
      ) : (
        <p class="quiet">Nothing is written yet.</p>
      )}
      {canWrite() && (
        <p>
          <button class="small" onClick={() => setOpen(true)}>
            {text ? texts.change : texts.write}
          </button>
        </p>
      )}
      {isOpen && (
        <FormDialog
          title={texts.postMortem}
          id={`post-mortem ${id}`}
          specs={SPECS}
          record={incident}
          send={async (body: object) => {
            await changeIncident(id, body)
            reload()
          }}
          close={() => setOpen(false)}
        />
      )}
    </section>
  )
}
