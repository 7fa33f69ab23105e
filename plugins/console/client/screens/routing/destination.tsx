import { useState } from 'preact/hooks'
import type { AlertRule, Destination, DestinationTest } from 'tidemark/client'
import { api, isMissing } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { useQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { useTitle } from '../../parts/frame.tsx'
import { Help } from '../../parts/help.tsx'
import { Loaded, MissingPage } from '../../parts/states.tsx'
import { Shape, toneOf } from '../../parts/status.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Ago } from '../../parts/time.tsx'
import { routingTexts } from './texts.ts'
import { texts } from '../../texts.ts'
import { ruleAddress } from './addresses.ts'
import { Deliveries } from './deliveries.tsx'
import { DestinationSettings } from './destination-settings.tsx'
import { describeDestination } from './destination-state.ts'
import { PauseDestination } from './pause-button.tsx'
import { TestButton, TestOutcome } from './test-message.tsx'

async function loadDestination(id: string, signal: AbortSignal) {
  const [destination, rules] = await Promise.all([
    api.get('/api/v1/sdk/alerts/destinations/{id}', { path: { id }, signal }),
    api.get('/api/v1/sdk/alerts/rules', { query: { limit: 100 }, signal }),
  ])
  return { destination: destination.data, rules: rules.data }
}
type DestinationPageContent = Awaited<ReturnType<typeof loadDestination>>

/** Whether a destination takes messages, what it was sent, and its settings. */
export function DestinationPage({ id }: { id: string }) {
  const [query] = useQuery()
  const [test, setTest] = useState<DestinationTest>()
  const asked = useData(`destination ${id}`, signal => loadDestination(id, signal))
  useTitle(asked.data?.destination.name ?? routingTexts.destination)
  if (isMissing(asked.error))
    return (
      <MissingPage title="There is no such destination" href="/routing" back={routingTexts.destinations}>
        <p>It may have been deleted.</p>
      </MissingPage>
    )
  const isSettings = query.get('tab') === 'settings' && canWrite()
  const tabs = [
    { id: 'messages', name: routingTexts.messages },
    ...(canWrite() ? [{ id: 'settings', name: routingTexts.settings }] : []),
  ]
  return (
    <div class="page">
      <p class="path">
        <a href="/routing">{routingTexts.title}</a>
      </p>
      <Loaded of={asked} what={routingTexts.destination.toLowerCase()} rows={5}>
        {({ destination, rules }: DestinationPageContent) => (
          <>
            <Header destination={destination} />
            <Facts destination={destination} rules={rules.data} hasMore={rules.pagination.has_more} />
            <Actions destination={destination} reload={asked.reload} tested={setTest} />
            {test && <TestOutcome test={test} />}
            <Tabs label={destination.name} current={isSettings ? 'settings' : 'messages'} tabs={tabs} />
            {isSettings ? (
              <DestinationSettings destination={destination} rules={rules.data} reload={asked.reload} />
            ) : (
              <Deliveries id={id} round={test?.delivery_id ?? ''} reload={asked.reload} />
            )}
          </>
        )}
      </Loaded>
    </div>
  )
}

/** The answer in words, and why. */
function Header({ destination }: { destination: Destination }) {
  const { status, sentence } = describeDestination(destination)
  const { disabled_reason: reason, failing_since: since } = destination
  return (
    <header>
      <h1>
        <Shape tone={toneOf(status)} />
        <bdi>{sentence}</bdi>
        <Help page="destinations#when-it-does-not-arrive" about={routingTexts.destination} />
      </h1>
      {reason !== null ? (
        <p class="bad">{reason}.</p>
      ) : (
        since !== null && (
          <p class="bad">
            {routingTexts.failingSince} <Ago at={since} />.
          </p>
        )
      )}
    </header>
  )
}

function Facts({
  destination,
  rules,
  hasMore,
}: {
  destination: Destination
  rules: readonly AlertRule[]
  hasMore: boolean
}) {
  const own = rules.filter(({ destination_ids: ids }) => ids.includes(destination.id))
  return (
    <dl class="facts">
      <div>
        <dt>{texts.type}</dt>
        <dd>{destination.destination_type}</dd>
      </div>
      <div>
        <dt>Rules that send to it</dt>
        <dd>
          {own.length > 0
            ? own.map(({ id, name, is_active: isActive }) => (
                <>
                  <a key={id} class="chip" href={ruleAddress(id)}>
                    <bdi>{name}</bdi>
                    {!isActive && ` (${routingTexts.paused})`}
                  </a>{' '}
                </>
              ))
            : rules.length === 0
              ? 'No rule: it gets all warnings and critical alerts.'
              : // A company with more rules than were asked for may have one that sends to it.
                hasMore
                ? '–'
                : 'No rule sends to it.'}
        </dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>
          <Ago at={destination.created_at} />
        </dd>
      </div>
    </dl>
  )
}

function Actions({
  destination,
  reload,
  tested,
}: {
  destination: Destination
  reload: () => void
  tested: (test: DestinationTest) => void
}) {
  if (!canWrite()) return null
  const { state } = describeDestination(destination)
  return (
    <p class="actions above">
      <TestButton
        id={destination.id}
        className={state === 'untested' || state === 'failing' ? 'primary' : ''}
        tested={(test: DestinationTest) => {
          tested(test)
          reload()
        }}
      />
      <PauseDestination
        key={destination.is_active}
        destination={destination}
        className={destination.is_active ? '' : 'primary'}
        reload={reload}
      />
    </p>
  )
}
