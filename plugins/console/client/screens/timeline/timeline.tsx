import type { ComponentChildren } from 'preact'
import { useForm } from '../../forms/form.ts'
import { Fields, Form } from '../../forms/fields.tsx'
import type { FieldSpec } from '../../forms/schema.ts'
import { countOf, formatTime } from '../../lib/format.ts'
import { canWrite } from '../../lib/session.ts'
import { Ago } from '../../parts/time.tsx'
import { incidentTexts as texts } from '../incidents/texts.ts'
import type { Activity } from './activity.ts'

const COMMENT: FieldSpec[] = [
  { ...{ name: 'comment', label: 'Comment', kind: 'long' }, ...{ isRequired: true, maxLength: 5_000 } },
]

/** What happened to an alert or an incident, in the given order, and a field for a comment above. */
export function Timeline<Entry extends Activity>({
  id,
  activities,
  describe,
  comment,
}: {
  /** Names the draft of a comment. */
  id: string
  activities: readonly Entry[]
  /** What is shown of an entry beside the words that it has. */
  describe?: (entry: Entry) => ComponentChildren
  /** Sends a comment, and reads the timeline again. */
  comment: (text: string) => Promise<void>
}) {
  return (
    <>
      {canWrite() && <CommentForm id={id} comment={comment} />}
      <ol class="timeline">
        {activities.map(activity => (
          <li key={activity.id}>
            <strong>{texts.activities[activity.activity_type] ?? activity.activity_type}</strong>
            {activity.actor_name && <bdi>{activity.actor_name}</bdi>}
            <Ago at={activity.created_at} />
            {describeActivity(activity).map(text => (
              <p key={text}>
                <bdi>{text}</bdi>
              </p>
            ))}
            {describe?.(activity)}
          </li>
        ))}
      </ol>
    </>
  )
}

function CommentForm({ id, comment }: { id: string; comment: (text: string) => Promise<void> }) {
  const form = useForm(id, COMMENT)
  const submit = () => form.send(COMMENT, body => comment(body.comment as string))
  return (
    <Form form={form} submit={submit} label="Add comment">
      <Fields form={form} of={COMMENT} />
    </Form>
  )
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
    field('root_cause_detail'),
    field('action_detail'),
  ].filter(text => typeof text === 'string')
}
