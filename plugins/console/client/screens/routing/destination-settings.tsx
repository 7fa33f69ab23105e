import { useState } from 'preact/hooks'
import type { AlertRule, Destination, DestinationType } from 'tidemark/client'
import { Fields, Form } from '../../forms/fields.tsx'
import { useForm } from '../../forms/form.ts'
import type { FieldSpec } from '../../forms/schema.ts'
import { api } from '../../lib/api.ts'
import { formatTime } from '../../lib/format.ts'
import { navigate } from '../../lib/router.ts'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { notify } from '../../parts/notices.tsx'
import { Loaded } from '../../parts/states.tsx'
import { formTexts } from '../../forms/texts.ts'
import { routingTexts } from './texts.ts'
import { destinationFields, SigningSecret, useDestinationTypes } from './new-destination.tsx'

interface SettingsProps {
  destination: Destination
  rules: readonly AlertRule[]
  reload: () => void
}

/** Changes a destination, rotates its secret, or deletes it. */
export function DestinationSettings({ destination, rules, reload }: SettingsProps) {
  const types = useDestinationTypes()
  const type = types.data?.find(each => each.destination_type === destination.destination_type)
  return (
    <>
      <section>
        <h2>{routingTexts.settings}</h2>
        <Loaded of={types} what={routingTexts.settings.toLowerCase()} rows={4}>
          {() => <SettingsForm destination={destination} type={type} reload={reload} />}
        </Loaded>
      </section>
      {type?.is_signed && <Secret id={destination.id} />}
      <Deletion destination={destination} rules={rules} />
    </>
  )
}

/** A stored secret is kept where nothing is written. */
const withoutRequiredSecrets = (spec: FieldSpec): FieldSpec =>
  spec.kind === 'secret' ? { ...spec, isRequired: false } : spec

function SettingsForm({
  destination,
  type,
  reload,
}: {
  destination: Destination
  type: DestinationType | undefined
  reload: () => void
}) {
  const { id } = destination
  const specs = destinationFields(type).map(withoutRequiredSecrets)
  const form = useForm(`destination ${id}`, specs, destination)
  const submit = () =>
    form.send(specs, async body => {
      if (Object.keys(body).length === 0) return
      await api.patch('/api/v1/sdk/alerts/destinations/{id}', { path: { id }, body })
      notify('The destination was changed.')
      reload()
    })
  return (
    <Form
      form={form}
      submit={submit}
      more={
        form.isChanged && (
          <button type="button" onClick={form.reset}>
            {formTexts.discard}
          </button>
        )
      }
    >
      <Fields form={form} of={specs} isNew={false} />
    </Form>
  )
}

function Secret({ id }: { id: string }) {
  const [isAsking, setAsking] = useState(false)
  const [rotated, setRotated] = useState<{ secret: string; until: string }>()
  const rotate = async () => {
    const { data } = await api.post('/api/v1/sdk/alerts/destinations/{id}/rotate-secret', { path: { id } })
    setRotated({ secret: data.signing_secret, until: data.previous_valid_until })
  }
  return (
    <section>
      <h2>{routingTexts.rotate}</h2>
      <p>{routingTexts.rotateText}</p>
      <p class="actions above">
        <button onClick={() => setAsking(true)}>{routingTexts.rotate}</button>
      </p>
      {isAsking && (
        <ConfirmDialog
          title="Rotate the signing secret?"
          action={routingTexts.rotate}
          work={rotate}
          close={() => setAsking(false)}
        >
          <p>{routingTexts.rotateText}</p>
        </ConfirmDialog>
      )}
      {rotated && (
        <SigningSecret
          secret={rotated.secret}
          text={`Keep it where the receiver reads its secrets. The old secret also signs until ${formatTime(rotated.until)}.`}
          close={() => setRotated(undefined)}
        />
      )}
    </section>
  )
}

function Deletion({ destination: { id, name }, rules }: Pick<SettingsProps, 'destination' | 'rules'>) {
  const [isAsking, setAsking] = useState(false)
  const switchedOff = rules.filter(
    ({ is_active: isActive, destination_ids: ids }) => isActive && ids.every(each => each === id),
  )
  const remove = async () => {
    const { data } = await api.delete('/api/v1/sdk/alerts/destinations/{id}', { path: { id } })
    notify(`${data.message}.`)
    navigate('/routing', { replace: true })
  }
  return (
    <section>
      <h2>{routingTexts.deleteDestination}</h2>
      <p>{routingTexts.deleteDestinationText}</p>
      <p class="actions above">
        <button class="destructive" onClick={() => setAsking(true)}>
          {routingTexts.deleteDestination}
        </button>
      </p>
      {isAsking && (
        <ConfirmDialog
          title={routingTexts.deleteTitle(name)}
          action={routingTexts.deleteDestination}
          work={remove}
          close={() => setAsking(false)}
        >
          <p>{routingTexts.deleteDestinationText}</p>
          {switchedOff.length > 0 && (
            <>
              <p>These rules have no other destination and are switched off:</p>
              <ul>
                {switchedOff.map(rule => (
                  <li key={rule.id}>
                    <bdi>{rule.name}</bdi>
                  </li>
                ))}
              </ul>
            </>
          )}
        </ConfirmDialog>
      )}
    </section>
  )
}
