import { useState } from 'preact/hooks'
import type { Destination, Digest, NewDigest, Team } from 'tidemark/client'
import { Field, Form } from '../../forms/fields.tsx'
import { useForm } from '../../forms/form.ts'
import type { FieldSpec } from '../../forms/schema.ts'
import { zoneField } from '../../forms/zone-field.ts'
import { useAction } from '../../lib/action.ts'
import { api, isMissing } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { navigate } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { useSession, useTitle } from '../../parts/frame.tsx'
import { Help } from '../../parts/help.tsx'
import { notify } from '../../parts/notices.tsx'
import { Loaded, MissingPage } from '../../parts/states.tsx'
import { texts } from '../../texts.ts'
import { watchTexts } from '../../texts/watching.ts'
import { DIGESTS_ADDRESS } from './addresses.ts'
import { describeDigestTimes } from './digest-list.tsx'
import { DigestPreview } from './digest-preview.tsx'
import { digestTexts } from './digest-texts.ts'
import { routingTexts } from './texts.ts'

async function loadDigest(id: string, signal: AbortSignal) {
  const [digest, destinations, teams] = await Promise.all([
    id === 'new' ? undefined : api.get('/api/v1/sdk/alerts/digests/{id}', { path: { id }, signal }),
    api.get('/api/v1/sdk/alerts/destinations', { query: { limit: 100 }, signal }),
    api.get('/api/v1/sdk/teams', { query: { limit: 100 }, signal }),
  ])
  return { digest: digest?.data, destinations: destinations.data.destinations, teams: teams.data.teams }
}
type DigestContent = Awaited<ReturnType<typeof loadDigest>>

/** A digest, or a new one, beside what it would say. @param props.id of a digest, or `new` */
export function DigestPage({ id }: { id: string }) {
  const asked = useData(`digest ${id}`, signal => loadDigest(id, signal))
  const title = asked.data?.digest?.name ?? (id === 'new' ? digestTexts.add : digestTexts.digest)
  useTitle(title)
  if (isMissing(asked.error) || (id === 'new' && !canWrite()))
    return <MissingPage title={digestTexts.ended} href={DIGESTS_ADDRESS} back={digestTexts.digests} />
  return (
    <div class="page">
      <p class="path">
        <a href={DIGESTS_ADDRESS}>{digestTexts.digests}</a>
      </p>
      <h1>
        <bdi>{title}</bdi>
        <Help page="alerts#digests" about={digestTexts.digests} />
      </h1>
      <Loaded of={asked} what={digestTexts.digest.toLowerCase()} rows={6}>
        {({ digest, destinations, teams }: DigestContent) =>
          digest && !canWrite() ? (
            <p>{describeDigestTimes(digest)}</p>
          ) : (
            <>
              {digest && <Actions digest={digest} />}
              <DigestForm digest={digest} destinations={destinations} teams={teams} />
            </>
          )
        }
      </Loaded>
    </div>
  )
}

/** The fields of a digest. @param userId whose own things it may be about */
function digestFields(
  { digest, destinations, teams }: { digest?: Digest } & FormParts,
  userId: string | undefined,
) {
  const owners: [string, string][] = [
    ['', digestTexts.everything],
    ...(userId ? [[userId, digestTexts.mine] as [string, string]] : []),
    ...teams.map(({ id, name }): [string, string] => [id, name]),
  ]
  const owner = digest?.owner
  if (owner && !owners.some(([id]) => id === owner))
    owners.push([owner, owner.includes('@') ? owner : digestTexts.otherOwner])
  return {
    name: { name: 'name', label: texts.name, kind: 'text', isRequired: true, maxLength: 200 },
    destination: {
      ...{ name: 'destination_id', label: 'Send to', kind: 'choice', isRequired: true },
      choices: destinations.map(({ id, name }) => [id, name] as const),
      hint: digestTexts.takers,
    },
    owner: { name: 'owner', label: digestTexts.scope, kind: 'choice', initial: '', choices: owners },
    frequency: {
      ...{ name: 'frequency', label: routingTexts.openAt, kind: 'choice', isRequired: true },
      ...{ initial: 'weekly', choices: digestTexts.frequencies },
    },
    weekday: {
      ...{ name: 'weekday', label: 'Day', kind: 'choice', isRequired: true, initial: '1', isNumeric: true },
      choices: watchTexts.days.map((day, n) => [String(n + 1), day] as const),
    },
    at: {
      ...{ name: 'send_at', label: 'At', kind: 'text', isRequired: true, initial: '08:00', maxLength: 5 },
      hint: 'Hours and minutes, such as 08:00.',
    },
    zone: zoneField(digest?.timezone),
  } as const satisfies Record<string, FieldSpec>
}

interface FormParts {
  destinations: readonly Destination[]
  teams: readonly Team[]
}

function DigestForm({ digest, ...parts }: { digest?: Digest } & FormParts) {
  const { user } = useSession()
  const fields = digestFields({ digest, ...parts }, user?.id)
  const specs = Object.values(fields)
  const form = useForm(`digest ${digest?.id ?? 'new'}`, specs, digest)
  const isWeekly = form.values.frequency === 'weekly'
  const submit = () =>
    form.send(specs, async body => {
      if (digest) {
        if (Object.keys(body).length > 0)
          await api.patch('/api/v1/sdk/alerts/digests/{id}', { path: { id: digest.id }, body })
      } else
        await api.post('/api/v1/sdk/alerts/digests', {
          body: {
            ...(body as Partial<NewDigest>),
            name: String(form.values.name),
            destination_id: String(form.values.destination_id),
          },
        })
      notify(texts.saved)
      navigate(DIGESTS_ADDRESS, { replace: true })
    })
  return (
    <div class="with-side">
      <div>
        {parts.destinations.length === 0 && (
          <p>
            {digestTexts.needsDestination} <a href="/routing/new">{routingTexts.addDestination}</a>
          </p>
        )}
        <Form form={form} submit={submit} label={digest ? undefined : digestTexts.add}>
          <Field form={form} spec={fields.name} />
          <Field form={form} spec={fields.destination} />
          <Field form={form} spec={fields.owner} />
          <Field form={form} spec={fields.frequency} />
          {isWeekly && <Field form={form} spec={fields.weekday} />}
          <Field form={form} spec={fields.at} />
          <Field form={form} spec={fields.zone} />
        </Form>
      </div>
      <DigestPreview
        body={{
          owner: String(form.values.owner) || null,
          frequency: isWeekly ? 'weekly' : 'daily',
          timezone: String(form.values.timezone),
        }}
      />
    </div>
  )
}

function Actions({ digest: { id, name } }: { digest: Digest }) {
  const [isAsking, setAsking] = useState(false)
  const [isBusy, send] = useAction(digestTexts.send, async () => {
    await api.post('/api/v1/sdk/alerts/digests/{id}/send', { path: { id } })
    notify(digestTexts.isOnItsWay)
  })
  const remove = async () => {
    await api.delete('/api/v1/sdk/alerts/digests/{id}', { path: { id } })
    notify('The digest was deleted.')
    navigate(DIGESTS_ADDRESS, { replace: true })
  }
  return (
    <>
      <p class="actions">
        <button class="small" disabled={isBusy} onClick={send}>
          {digestTexts.send}
        </button>
        <button class="destructive small" onClick={() => setAsking(true)}>
          {digestTexts.remove}
        </button>
      </p>
      {isAsking && (
        <ConfirmDialog
          title={digestTexts.removeTitle(name)}
          action={digestTexts.remove}
          work={remove}
          close={() => setAsking(false)}
        >
          <p>What was sent stays among the messages of its destination.</p>
        </ConfirmDialog>
      )}
    </>
  )
}
