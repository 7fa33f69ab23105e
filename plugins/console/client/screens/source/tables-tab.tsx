import { useState } from 'preact/hooks'
import type { Source } from 'tidemark/client'
import { Fields, Form } from '../../forms/fields.tsx'
import { useForm } from '../../forms/form.ts'
import { buildBody } from '../../forms/schema.ts'
import { api } from '../../lib/api.ts'
import { useData, useDebounced } from '../../lib/data.ts'
import { useJob } from '../../lib/job.ts'
import { withQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { Loaded } from '../../parts/states.tsx'
import { sourceTexts } from './texts.ts'
import type { SourceTabProps } from './props.ts'
import { patternFields } from './fields.ts'

/** How long a person pauses before patterns are tried. */
const PAUSE_MS = 400

/** Which tables of a source are read, tried as a person types, and the discovery that reads them. */
export function TablesTab({ source, reload }: SourceTabProps) {
  const [jobId, setJobId] = useState<string>()
  const form = useForm(`patterns ${source.id}`, patternFields, source)
  const start = async () => {
    const path = { asset_id: source.id }
    const { data } = await api.post('/api/v1/sdk/assets/{asset_id}/discover', { path })
    setJobId(data.job_id)
  }
  const submit = () =>
    form.send(patternFields, async body => {
      const path = { asset_id: source.id }
      if (Object.keys(body).length > 0) {
        // A list that was emptied is an empty list: null would be refused.
        const lists = Object.fromEntries(Object.entries(body).map(([name, list]) => [name, list ?? []]))
        await api.patch('/api/v1/sdk/assets/{asset_id}', { path, body: lists })
        reload()
      }
      await start()
    })
  if (!canWrite()) return <p class="quiet">{sourceTexts.cannotEdit}</p>
  const lists = buildBody(patternFields, form.values)
  return (
    <div class="with-side">
      <div>
        <Form form={form} submit={submit} label={form.isChanged ? 'Save and discover' : 'Discover now'}>
          <Fields form={form} of={patternFields} />
        </Form>
        {jobId && <Discovery key={jobId} id={jobId} source={source} reload={reload} />}
      </div>
      <section class="side" aria-label={sourceTexts.tabTables}>
        <Preview source={source} lists={lists} />
      </section>
    </div>
  )
}

type Preview = Awaited<ReturnType<typeof loadPreview>>

const loadPreview = async (id: string, body: object, signal: AbortSignal) =>
  (await api.post('/api/v1/sdk/assets/{asset_id}/preview-tables', { path: { asset_id: id }, body, signal }))
    .data

function Preview({ source, lists }: { source: Source; lists: object }) {
  const key = useDebounced(JSON.stringify(lists), PAUSE_MS)
  const preview = useData(`preview ${source.id} ${key}`, signal =>
    loadPreview(source.id, JSON.parse(key) as object, signal),
  )
  return (
    <Loaded of={preview} what={sourceTexts.tabTables.toLowerCase()} rows={6}>
      {(found: Preview) =>
        found.matched === null || found.total === null ? (
          <p class="bad" role="status">
            {found.error_message}
          </p>
        ) : (
          <>
            <p role="status">
              <strong>{sourceTexts.matching(found.matched, found.total)}</strong>
            </p>
            <ul class="names">
              {found.tables.map(name => (
                <li key={name}>
                  <code>{name}</code>
                </li>
              ))}
              {found.matched > found.tables.length && (
                <li class="quiet">{sourceTexts.andMore(found.matched - found.tables.length)}</li>
              )}
            </ul>
          </>
        )
      }
    </Loaded>
  )
}

/** A discovery as it runs, with a button that ends it, and what it found. */
function Discovery({ id, source, reload }: SourceTabProps & { id: string }) {
  const { job, isCancelling, cancel } = useJob(id, reload)
  const { status, progress, result, error } = job ?? { status: 'pending', progress: 0 }
  if (status === 'failed')
    return (
      <p class="bad" role="alert">
        {error?.message}
      </p>
    )
  if (status === 'cancelled') return <p role="status">The discovery was cancelled.</p>
  if (status === 'completed' && result && 'table_count' in result)
    return (
      <div role="status">
        <p>{sourceTexts.found(result.table_count, result.column_count)}</p>
        {result.unread_count > 0 && (
          <>
            <p>{sourceTexts.unread(result.unread_count)}</p>
            <ul>
              {result.unread.map(({ table_path: path, error_message: message }) => (
                <li key={path}>
                  <code>{path}</code> {message}
                </li>
              ))}
            </ul>
          </>
        )}
        <p class="actions">
          <a class="button primary" href={withQuery(location.pathname, { tab: 'watch' })}>
            Next: what to watch
          </a>
          <a class="button" href={withQuery('/catalog', { source: source.name })}>
            Look at the tables
          </a>
        </p>
      </div>
    )
  return (
    <p class="actions" role="status">
      <progress max="100" value={progress} aria-label={sourceTexts.discovering} />
      <span>
        {sourceTexts.discovering} {progress} %
      </span>
      <button disabled={isCancelling} onClick={cancel}>
        Cancel
      </button>
    </p>
  )
}
