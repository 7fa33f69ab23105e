import { useEffect, useState } from 'preact/hooks'
import type { Source, UpdateAssetRequest } from 'tidemark/client'
import { Fields, Form, MoreFields } from '../../forms/fields.tsx'
import { useForm } from '../../forms/form.ts'
import { useAction } from '../../lib/action.ts'
import { api, bodyOf } from '../../lib/api.ts'
import { changeQuery, navigate, useQuery, withQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { notify } from '../../parts/notices.tsx'
import { Loaded, Skeleton } from '../../parts/states.tsx'
import { formTexts } from '../../forms/texts.ts'
import { sourceTexts } from './texts.ts'
import { texts } from '../../texts.ts'
import {
  asRequest,
  behaviourFields,
  nameFields,
  readConnectionFields,
  useSourceTypes,
  type SourceType,
} from './fields.ts'
import type { SourceTabProps } from './props.ts'
import { Stages, type ConnectionTest } from './stages.tsx'

/** How a source is reached: its settings, and a test of them. */
export function ConnectionTab({ source, reload }: SourceTabProps) {
  const types = useSourceTypes()
  const [test, setTest] = useState<ConnectionTest>()
  const [query] = useQuery()
  const isAsked = query.get('test') === 'now'
  const runTest = async () => {
    const path = { asset_id: source.id }
    const { data } = await api.post('/api/v1/sdk/assets/{asset_id}/test-connection', { path })
    setTest(data)
    reload()
  }
  const [isTesting, start] = useAction(sourceTexts.test, runTest)
  useEffect(() => {
    if (!isAsked || !canWrite()) return
    changeQuery({ test: null })
    start()
  }, [isAsked])
  if (!canWrite()) return <p class="quiet">{sourceTexts.cannotEdit}</p>
  return (
    <>
      <div class="with-side">
        <Loaded of={types} what="connection" rows={8}>
          {(found: readonly SourceType[]) => {
            const type = found.find(({ source_type: name }) => name === source.source_type)
            return type && <Settings source={source} type={type} reload={reload} test={runTest} />
          }}
        </Loaded>
        <section class="side" aria-label={sourceTexts.test}>
          <h2>{texts.connection}</h2>
          {!test && !isTesting && <p class="quiet">{sourceTexts.testText}</p>}
          <p class="actions">
            <button disabled={isTesting} onClick={start}>
              {isTesting ? 'Testing…' : sourceTexts.test}
            </button>
            {test?.success && (
              <a class="button primary" href={withQuery(location.pathname, { tab: 'tables' })}>
                Next: choose the tables
              </a>
            )}
          </p>
          {isTesting && !test ? <Skeleton rows={4} /> : test && <Stages test={test} />}
        </section>
      </div>
      <Removal source={source} />
    </>
  )
}

function Settings({
  source,
  type,
  reload,
  test,
}: SourceTabProps & { type: SourceType; test: () => Promise<void> }) {
  const { common, rare } = readConnectionFields(type)
  const specs = [...nameFields, ...common, ...rare, ...behaviourFields]
  const form = useForm(`source ${source.id}`, specs, asRequest(source))
  const submit = () =>
    form.send(specs, async body => {
      const path = { asset_id: source.id }
      if (Object.keys(body).length > 0) {
        const { data } = await api.patch('/api/v1/sdk/assets/{asset_id}', {
          path,
          body: bodyOf<UpdateAssetRequest>(body),
        })
        const address = `/sources/${encodeURIComponent(data.qualified_name)}`
        if (data.qualified_name !== source.qualified_name)
          navigate(withQuery(address, { tab: 'connection' }), { replace: true })
        reload()
      }
      await test()
    })
  return (
    <Form
      form={form}
      submit={submit}
      label="Save and test"
      more={
        form.isChanged && (
          <button type="button" onClick={form.reset}>
            {formTexts.discard}
          </button>
        )
      }
    >
      <Fields form={form} of={[...nameFields, ...common]} isNew={false} />
      {rare.length > 0 && (
        <MoreFields form={form} of={rare}>
          <Fields form={form} of={rare} isNew={false} />
        </MoreFields>
      )}
      <h2>How it is read</h2>
      <Fields form={form} of={behaviourFields} />
    </Form>
  )
}

/** Removing takes the name, since all results go with it. */
function Removal({ source }: { source: Source }) {
  const [isOpen, setOpen] = useState(false)
  const [typed, setTyped] = useState('')
  const [isWrong, setWrong] = useState(false)
  const [isBusy, remove] = useAction(sourceTexts.remove, async () => {
    await api.delete('/api/v1/sdk/assets/{asset_id}', { path: { asset_id: source.id } })
    notify(`The source ${source.name} was removed.`)
    navigate('/sources')
  })
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (typed.trim() === source.name) remove()
    else setWrong(true)
  }
  return (
    <>
      <p class="danger">
        <button class="bad" onClick={() => setOpen(true)}>
          {sourceTexts.remove}
        </button>
      </p>
      {isOpen && (
        <Dialog title={sourceTexts.remove} close={() => setOpen(false)}>
          <form onSubmit={submit} novalidate>
            <p>{sourceTexts.removeText(source.name)}</p>
            <label class="field">
              <span>
                {sourceTexts.removeLabel}: <bdi>{source.name}</bdi>
              </span>
              <input
                value={typed}
                autocomplete="off"
                aria-invalid={isWrong ? 'true' : undefined}
                aria-describedby={isWrong ? 'removal-problem' : undefined}
                onInput={(event: Event) => setTyped((event.target as HTMLInputElement).value)}
              />
              {isWrong && (
                <span class="bad" id="removal-problem">
                  That is not its name.
                </span>
              )}
            </label>
            <p class="actions">
              <button class="primary" disabled={isBusy}>
                {sourceTexts.remove}
              </button>
              <button type="button" onClick={() => setOpen(false)}>
                {texts.cancel}
              </button>
            </p>
          </form>
        </Dialog>
      )}
    </>
  )
}
