import { useForm } from '../../forms/form.ts'
import { Fields, Form } from '../../forms/fields.ts'
import type { FieldSpec } from '../../forms/schema.ts'
import { countOf, formatTime } from '../../lib/format.ts'
import { html } from '../../lib/html.ts'
import { canWrite } from '../../lib/session.ts'
import { Ago } from '../../parts/time.ts'
import { incidentTexts as texts } from './texts.ts'
import { addComment, type Activity, type Incident } from './requests.ts'

const COMMENT: FieldSpec[] = [
  { ...{ name: 'comment', label: 'Comment', kind: 'long' }, ...{ isRequired: true, maxLength: 5_000 } },
]

/** What happened to an incident, the newest last, and what people write to it. */
export function Timeline({ incident, reload }: { incident: Incident; reload: () => void }) {
  return html`<section>
    <h2>Timeline</h2>
    <ol class="timeline">
      ${incident.activities.map(
        activity =>
          html`<li key=${activity.id}>
            <strong>${texts.activities[activity.activity_type] ?? activity.activity_type}</strong>
            ${activity.actor_name && html`<bdi>${activity.actor_name}</bdi>`}
            <${Ago} at=${activity.created_at} />
            ${describeActivity(activity).map(text => html`<p key=${text}><bdi>${text}</bdi></p>`)}
          </li>`,
      )}
    </ol>
    ${canWrite() && html`<${CommentForm} id=${incident.id} reload=${reload} />`}
  </section>`
}

function CommentForm({ id, reload }: { id: string; reload: () => void }) {
  const form = useForm(`incident comment ${id}`, COMMENT)
  const submit = () =>
    form.send(COMMENT, async ({ comment }) => {
      await addComment(id, comment as string)
      reload()
    })
  return html`<${Form} form=${form} submit=${submit} label="Add comment">
    <${Fields} form=${form} of=${COMMENT} />
  <//>`
}

/** What belongs to an entry, in words: a comment, how many alerts joined, what the cause was before. */
function describeActivity({ activity_type: type, metadata }: Activity): string[] {
  const field = (name: string) => {
    const value = (metadata as Record<string, unknown>)[name]
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
  }
  const [from, to, until, count] = [field('from'), field('to'), field('until'), field('alert_count')]
  return [
    field('comment'),
    count !== undefined && countOf(Number(count), 'alert'),
    from && to && `${from} → ${to}`,
    field('title'),
    type === 'assigned' && (field('assignee') ?? texts.unassigned),
    until && texts.until(formatTime(until)),
    field('reason'),
  ].filter(text => typeof text === 'string')
}
