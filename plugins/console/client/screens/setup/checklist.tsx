import { useAction } from '../../lib/action.ts'
import { api } from '../../lib/api.ts'
import { pageSettings } from '../../lib/page-settings.ts'
import { navigate, sourceAddress } from '../../lib/router.ts'
import { Icon } from '../../parts/icons.tsx'
import { hideChecklist, type SetupStep } from './setup-steps.ts'

const texts = {
  title: (done: number, all: number) => `Get started: ${done} of ${all} done`,
  dismiss: 'Hide the checklist',
  steps: {
    connect: ['Connect a source', 'A database or a warehouse. A role that may only read is enough.'],
    discover: [
      'Discover its tables',
      'Choose which tables are read. Changes of their columns are found from then on.',
    ],
    freshness: ['Watch the freshness of a table', 'You hear of it when its newest row is too old.'],
    checks: ['Add a check', 'It finds wrong values and unusual numbers.'],
    destination: ['Say where alerts go', 'To a chat, to mail, or to a program of yours.'],
  },
  tryDemo: 'Try it with a demo shop',
} as const

/** Leads a new company through its setup; each step is a link to the screen on which it is done. */
export function Checklist({ steps }: { steps: readonly SetupStep[] }) {
  const [isHiding, hide] = useAction(texts.dismiss, () => hideChecklist(true))
  const done = steps.filter(({ isDone }) => isDone).length
  const isNew = steps.some(({ id, isDone }) => id === 'connect' && !isDone)
  return (
    <section class="checklist" aria-labelledby="checklist-title">
      <header>
        <h2 id="checklist-title">{texts.title(done, steps.length)}</h2>
        <button class="plain" disabled={isHiding} onClick={hide}>
          {texts.dismiss}
        </button>
      </header>
      <p class="quiet">The steps tick themselves once there is something.</p>
      <ol>
        {steps.map(step => (
          <Step key={step.id} step={step} />
        ))}
      </ol>
      {isNew && pageSettings.hasDemo && <DemoButton />}
    </section>
  )
}

function Step({ step: { id, isDone, address } }: { step: SetupStep }) {
  const [name, text] = texts.steps[id]
  return (
    <li class={isDone ? 'done' : ''}>
      <span class="tick">{isDone && <Icon name="check" />}</span>
      <span>
        <a href={address}>{name}</a>
        <span class="hidden"> ({isDone ? 'done' : 'to do'})</span>
        {!isDone && <span class="quiet">{text}</span>}
      </span>
    </li>
  )
}

/** A source with a real database, for who has none at hand. */
function DemoButton() {
  const [isBusy, start] = useAction(texts.tryDemo, async () => {
    const { data, message } = await api.post('/api/v1/auth/preferences/onboarding/demo-asset', { body: {} })
    if (data === null) throw new Error(message)
    // Waits for the discovery, which finds the tables that the lineage connects.
    await api.post('/api/v1/auth/preferences/onboarding/demo-lineage', { body: {} })
    navigate(sourceAddress(data.name))
  })
  return (
    <p>
      <button disabled={isBusy} onClick={start}>
        {isBusy ? 'Preparing the shop…' : texts.tryDemo}
      </button>
    </p>
  )
}
