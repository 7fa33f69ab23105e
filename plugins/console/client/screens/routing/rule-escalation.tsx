import type { AlertRule, Destination } from 'tidemark/client'
import { routingTexts } from './texts.ts'

export type Steps = NonNullable<AlertRule['escalation']>

const MAX_STEPS = 5
const DEFAULT_MINUTES = 30

/** What is wrong with steps; empty if nothing is. */
export function findStepsProblem(steps: Steps): string {
  const isOrdered = steps.every((step, n) => step.after_minutes > (steps[n - 1]?.after_minutes ?? 0))
  if (!isOrdered) return routingTexts.stepsOutOfOrder
  return steps.every(step => step.destination_ids.length > 0) ? '' : routingTexts.stepsWithoutDestination
}

/** Who is notified next while no person has taken an alert: steps, each with its time and its destinations. */
export function RuleEscalation({
  steps,
  destinations,
  change,
}: {
  steps: Steps
  destinations: readonly Destination[]
  change: (steps: Steps) => void
}) {
  const set = (n: number, fields: Partial<Steps[number]>) =>
    change(steps.map((step, index) => (index === n ? { ...step, ...fields } : step)))
  return (
    <details class="more" open={steps.length > 0}>
      <summary>
        {routingTexts.escalation}: {steps.length === 0 ? 'none' : steps.length}
      </summary>
      <p class="note">{routingTexts.escalationHint}</p>
      {steps.map((step, n) => (
        <fieldset key={n} class="choices">
          <legend>{routingTexts.step(n + 1)}</legend>
          <label>
            {routingTexts.afterMinutes}{' '}
            <input
              type="number"
              min="1"
              max="10080"
              value={step.after_minutes}
              onInput={(event: Event) =>
                set(n, { after_minutes: Number((event.target as HTMLInputElement).value) })
              }
            />
          </label>
          {destinations.map(({ id, name }) => (
            <label key={id}>
              <input
                type="checkbox"
                checked={step.destination_ids.includes(id)}
                onChange={(event: Event) => {
                  const others = step.destination_ids.filter(each => each !== id)
                  const isOn = (event.target as HTMLInputElement).checked
                  set(n, { destination_ids: isOn ? [...others, id] : others })
                }}
              />
              <bdi>{name}</bdi>
            </label>
          ))}
          <button
            type="button"
            class="plain small"
            onClick={() => change(steps.filter((_, index) => index !== n))}
          >
            {routingTexts.removeStep}
          </button>
        </fieldset>
      ))}
      {steps.length < MAX_STEPS && (
        <p>
          <button
            type="button"
            onClick={() => {
              const last = steps.at(-1)?.after_minutes ?? 0
              change([...steps, { after_minutes: last + DEFAULT_MINUTES, destination_ids: [] }])
            }}
          >
            {routingTexts.addStep}
          </button>
        </p>
      )}
    </details>
  )
}
