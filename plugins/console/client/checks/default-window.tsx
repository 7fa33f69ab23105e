import { defaultWindowSpecs } from './scope-specs.ts'
import { scopeTexts } from './scope-texts.ts'
import { Fields, Form } from '../forms/fields.tsx'
import { useForm } from '../forms/form.ts'
import { useAction } from '../lib/action.ts'
import { api } from '../lib/api.ts'
import { canWrite } from '../lib/session.ts'
import { Help } from '../parts/help.tsx'
import type { TabProps } from '../screens/props.ts'

const windowTexts = {
  title: 'Default window',
  about:
    'New rules and metrics, watching, recommendations and profiles of this table are about one bucket of time at a time. Checks that are there already stay as they are.',
  none: 'Checks of this table are about all of its rows.',
  remove: 'Remove it',
  set: 'Set the default window',
  origins: {
    partition: 'Its rows are partitioned by',
    clustering: 'Its rows are sorted by',
  },
  proposal: ', so that a check of a day reads that day only.',
  use: 'Check days',
} as const

type DefaultWindowOf = NonNullable<TabProps['table']['default_window']>

/** The window that new checks of a table have: set by hand, or by one click as its partitions propose it. */
export function DefaultWindow({ table, reload }: TabProps) {
  const specs = defaultWindowSpecs(table)
  const { default_window: current, proposed_window: proposed } = table
  const form = useForm(`window ${table.id}`, specs)
  const set = async (window: DefaultWindowOf | null) => {
    await api.patch('/api/v1/sdk/assets/{asset_id}', {
      path: { asset_id: table.id },
      body: { default_window: window },
    })
    form.reset()
    reload()
  }
  const [isRemoving, remove] = useAction(windowTexts.remove, () => set(null))
  const [isTaking, take] = useAction(windowTexts.use, async () => {
    if (!proposed) return
    const { origin: _, ...window } = proposed
    await set(window)
  })
  const submit = () =>
    form.send(specs, body =>
      set({
        time_column: body.time_column as string,
        window: body.window as string,
        window_delay: (body.window_delay as string | undefined) ?? null,
      }),
    )
  if (specs.length === 0 && !proposed) return null
  return (
    <section>
      <h2>
        {windowTexts.title}
        <Help page="checks#a-window" about={windowTexts.title} />
      </h2>
      <p>{windowTexts.about}</p>
      {!current && <p class="quiet">{windowTexts.none}</p>}
      {proposed && (
        <p>
          {windowTexts.origins[proposed.origin]}{' '}
          <code>
            <bdi>{proposed.time_column}</bdi>
          </code>
          {windowTexts.proposal}{' '}
          {canWrite() && (
            <button class="small" disabled={isTaking} onClick={take}>
              {windowTexts.use}
            </button>
          )}
        </p>
      )}
      {canWrite() && specs.length > 0 ? (
        <Form
          form={form}
          submit={submit}
          label={windowTexts.set}
          more={
            current && (
              <button type="button" disabled={isRemoving} onClick={remove}>
                {windowTexts.remove}
              </button>
            )
          }
        >
          <Fields form={form} of={specs} />
        </Form>
      ) : (
        current && (
          <p>
            {scopeTexts.bucketOf(current.window)}{' '}
            <code>
              <bdi>{current.time_column}</bdi>
            </code>
            {current.window_delay && `, ${scopeTexts.delay(current.window_delay)}`}
          </p>
        )
      )}
    </section>
  )
}
