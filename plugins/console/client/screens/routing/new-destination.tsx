import { useState } from 'preact/hooks'
import type {
  CreateDestinationRequest,
  DestinationType,
  NewDestination as CreatedDestination,
} from 'tidemark/client'
import { Fields, Form } from '../../forms/fields.tsx'
import { useForm } from '../../forms/form.ts'
import { readSchema, type FieldSpec, type SettingsSchema } from '../../forms/schema.ts'
import { SecretDialog } from '../../forms/secret.tsx'
import { api, bodyOf } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { navigate, withQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { useTitle } from '../../parts/frame.tsx'
import { Help } from '../../parts/help.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { routingTexts } from './texts.ts'
import { texts } from '../../texts.ts'
import { destinationAddress } from './addresses.ts'

/** The types of destinations; they do not change while a screen is open. */
export const useDestinationTypes = () =>
  useData('destination types', async signal => {
    return (await api.get('/api/v1/sdk/alerts/destination-types', { signal })).data.items
  })

/** The fields of a destination of a type; of its name only where the type is not known any more. */
export function destinationFields(type: DestinationType | undefined, { isNew = false } = {}): FieldSpec[] {
  const name: FieldSpec = {
    name: 'name',
    label: texts.name,
    kind: 'text',
    isRequired: true,
    maxLength: 200,
    hint: 'Such as the team or the channel that reads it.',
  }
  const messages: FieldSpec = {
    ...{
      name: 'messages',
      label: 'Messages',
      kind: 'choice',
      hint: 'An incident has one message, or one thread, for all alerts that belong together.',
    },
    ...{ initial: isNew ? '' : 'alerts' },
    choices: [
      ...(isNew ? [['', 'As usual for this type'] as const] : []),
      ...Object.entries(routingTexts.messageChoices),
    ],
  }
  return [name, ...(type ? readSchema(type.settings as SettingsSchema, 'config') : []), messages]
}

/** Adds a destination: first its type, which stands in the address, then its form. */
export function NewDestination({ typeName }: { typeName: string | null }) {
  const types = useDestinationTypes()
  useTitle(routingTexts.addDestination)
  if (!canWrite())
    return (
      <div class="page">
        <Empty title={texts.notFound} isScreen={true} />
      </div>
    )
  const type = types.data?.find(each => each.destination_type === typeName && each.unavailable === null)
  return (
    <div class="page narrow">
      <p class="path">
        <a href="/routing">{routingTexts.title}</a>
      </p>
      <h1>
        {type ? `New destination: ${type.label}` : 'Where are alerts to go?'}
        <Help page="destinations" about={routingTexts.addDestination} />
      </h1>
      <Loaded of={types} what={texts.type.toLowerCase()} rows={6}>
        {(found: readonly DestinationType[]) =>
          type ? <DestinationForm type={type} /> : <TypeList types={found} />
        }
      </Loaded>
    </div>
  )
}

function TypeList({ types }: { types: readonly DestinationType[] }) {
  return (
    <ul class="types">
      {types.map(({ destination_type: name, label, unavailable }) => (
        <li key={name}>
          {unavailable === null ? (
            <a href={withQuery('/routing/new', { type: name })}>
              <strong>{label}</strong>
            </a>
          ) : (
            <p class="quiet">
              <strong>{label}</strong> <span>{unavailable}.</span>
            </p>
          )}
        </li>
      ))}
    </ul>
  )
}

function DestinationForm({ type }: { type: DestinationType }) {
  const specs = destinationFields(type, { isNew: true })
  const form = useForm(`destination new ${type.destination_type}`, specs)
  const [created, setCreated] = useState<CreatedDestination>()
  const submit = () =>
    form.send(specs, async body => {
      const { data } = await api.post('/api/v1/sdk/alerts/destinations', {
        // A type without a required setting has none in the form's body.
        body: bodyOf<CreateDestinationRequest>({
          config: {},
          ...body,
          destination_type: type.destination_type,
        }),
      })
      if (data.signing_secret === null) navigate(destinationAddress(data.id), { replace: true })
      else setCreated(data)
    })
  return (
    <>
      <Form
        form={form}
        submit={submit}
        label="Create destination"
        busyLabel="Checking the address…"
        more={
          <a class="button" href="/routing/new">
            Choose another type
          </a>
        }
      >
        <Fields form={form} of={specs} />
      </Form>
      {created?.signing_secret && (
        <SigningSecret
          secret={created.signing_secret}
          text="Your receiver verifies with it that a message comes from here. Keep it where the receiver reads its secrets."
          close={() => navigate(destinationAddress(created.id), { replace: true })}
        />
      )}
    </>
  )
}

/** A signing secret, which the server shows once, with how a receiver uses it. */
export function SigningSecret({ secret, text, close }: { secret: string; text: string; close: () => void }) {
  return (
    <SecretDialog title="The signing secret, shown once" text={text} secret={secret} close={close}>
      <p class="quiet">
        {routingTexts.verifyText}{' '}
        <a href="/guide/webhooks#verify-the-signature" target="_blank">
          How a receiver verifies a message
        </a>
      </p>
    </SecretDialog>
  )
}
