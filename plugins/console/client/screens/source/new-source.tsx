import type { CreateSourceRequest } from 'tidemark/client'
import { api, bodyOf } from '../../lib/api.ts'
import { navigate, sourceAddress, withQuery } from '../../lib/router.ts'
import { Fields, Form, MoreFields } from '../../forms/fields.tsx'
import { useForm } from '../../forms/form.ts'
import { useTitle } from '../../parts/frame.tsx'
import { Help } from '../../parts/help.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { canWrite } from '../../lib/session.ts'
import { sourceTexts } from './texts.ts'
import { texts } from '../../texts.ts'
import { EngineLogo } from './engine-logo.tsx'
import {
  discoveryField,
  nameFields,
  readConnectionFields,
  useSourceTypes,
  type SourceType,
} from './fields.ts'
import { ReadOnlyUser } from './read-only-user.tsx'
import { UrlField } from './url-field.tsx'
import { takesUrl } from './url-values.ts'

/** Adds a source: first its engine, then its connection. @param type the engine that was chosen, if one was */
export function NewSource({ type: chosen }: { type: string }) {
  const types = useSourceTypes()
  useTitle('Add a source')
  if (!canWrite())
    return (
      <div class="page">
        <Empty title={sourceTexts.cannotEdit} isScreen={true} />
      </div>
    )
  return (
    <div class="page">
      <p class="path">
        <a href="/sources">{texts.sources}</a>
      </p>
      <Loaded of={types} what={texts.engine.toLowerCase()} rows={6}>
        {(found: readonly SourceType[]) => {
          const type = found.find(({ source_type: name }) => name === chosen)
          return type ? <ConnectionForm key={chosen} type={type} /> : <EngineList types={found} />
        }}
      </Loaded>
    </div>
  )
}

function EngineList({ types }: { types: readonly SourceType[] }) {
  return (
    <>
      <h1>
        What do you want to connect?
        <Help page="engines" about={texts.engine} />
      </h1>
      <ul class="engines">
        {types.map(({ source_type: type, label }) => (
          <li key={type}>
            <a href={withQuery('/sources', { add: type })}>
              <EngineLogo type={type} />
              <span>{label}</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}

function ConnectionForm({ type }: { type: SourceType }) {
  const { common, rare } = readConnectionFields(type)
  const specs = [...nameFields, ...common, ...rare, discoveryField]
  const form = useForm(`new source ${type.source_type}`, specs)
  const submit = () =>
    form.send(specs, async body => {
      const { data } = await api.post('/api/v1/sdk/assets', {
        // The server judges the settings: an extension may have others than the description knows.
        body: bodyOf<CreateSourceRequest>({ connection_config: {}, ...body, source_type: type.source_type }),
      })
      navigate(withQuery(sourceAddress(data.qualified_name), { tab: 'connection', test: 'now' }))
    })
  return (
    <>
      <h1>
        <EngineLogo type={type.source_type} /> {sourceTexts.addOf(type.label)}
      </h1>
      <p class="quiet">
        {sourceTexts.roleHint} {sourceTexts.secretsHint}
      </p>
      <ReadOnlyUser type={type.source_type} values={form.values} />
      <Form
        form={form}
        submit={submit}
        label="Add and test"
        busyLabel="Connecting…"
        more={
          <a class="button" href="/sources?add=">
            Choose another engine
          </a>
        }
      >
        {takesUrl(type.source_type) && <UrlField type={type.source_type} form={form} specs={specs} />}
        <Fields form={form} of={[...nameFields, ...common, discoveryField]} />
        {rare.length > 0 && (
          <MoreFields form={form} of={rare}>
            <Fields form={form} of={rare} />
          </MoreFields>
        )}
      </Form>
    </>
  )
}
