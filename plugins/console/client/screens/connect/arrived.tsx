import { useState } from 'preact/hooks'
import type { LineageFeed, ReportedNamespace, Source } from 'tidemark/client'
import { FormDialog } from '../../forms/form-dialog.tsx'
import type { FieldSpec } from '../../forms/schema.ts'
import { api, bodyOf } from '../../lib/api.ts'
import { canWrite } from '../../lib/session.ts'
import { notify } from '../../parts/notices.tsx'
import { Empty } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import { connectTexts as texts } from './texts.ts'

/** The name of what sends, as people call it. */
const SENDER_NAMES: Record<LineageFeed['tool'], string> = {
  ...{ dbt: 'dbt', airflow: 'Airflow', spark: 'Spark', dagster: 'Dagster', flink: 'Flink' },
  ...{ manual: 'By hand or by the API', other: 'OpenLineage' },
}

/** What each producer has sent, the latest first. */
export function ArrivedList({ feeds }: { feeds: readonly LineageFeed[] }) {
  if (feeds.length === 0)
    return (
      <Empty title={texts.nothing}>
        <p>{texts.nothingText}</p>
      </Empty>
    )
  return (
    <ul class="feeds">
      {feeds.map(feed => (
        <li key={feed.producer}>
          <Feed feed={feed} />
        </li>
      ))}
    </ul>
  )
}

function Feed({ feed }: { feed: LineageFeed }) {
  const {
    tool,
    producer,
    runs,
    jobs,
    edges,
    failed_runs: failed,
    last_event_at: at,
    last_failure: failure,
  } = feed
  const counts = [
    runs > 0 && texts.runs(runs, jobs),
    texts.edges(edges),
    failed > 0 && texts.failedRuns(failed),
  ]
  return (
    <>
      <p>
        <strong>{SENDER_NAMES[tool]}</strong> <Ago at={at} />{' '}
        {producer.includes('/') && (
          <bdi class="quiet" title={producer}>
            {shortProducer(producer)}
          </bdi>
        )}
      </p>
      <p class="quiet">{counts.filter(Boolean).join(' · ')}</p>
      {failure && (
        <p>
          {texts.lastFailure} <code>{failure.job}</code> <Ago at={failure.at} />
          {failure.message && (
            <>
              : <span class="bad">{failure.message}</span>
            </>
          )}{' '}
          <span class="quiet">{texts.failureAdvice}</span>
        </p>
      )}
    </>
  )
}

/** The end of an address, which has the version: `providers-openlineage/2.7.3`. */
const shortProducer = (producer: string) => producer.split('/').filter(Boolean).slice(-2).join('/')

const MAX_NAMESPACES = 8

/** Namespaces whose datasets no source has, with a way to map each. */
export function UnmappedList({
  namespaces,
  sources,
  reload,
}: {
  namespaces: readonly ReportedNamespace[]
  sources: readonly Source[]
  reload: () => void
}) {
  const [chosen, choose] = useState<string>()
  const unmapped = namespaces.filter(({ mapping }) => mapping === 'none')
  if (unmapped.length === 0) return null
  return (
    <>
      <h2>{texts.unmapped}</h2>
      <p class="quiet">{texts.unmappedText}</p>
      <ul class="feeds">
        {unmapped.slice(0, MAX_NAMESPACES).map(({ namespace, datasets }) => (
          <li key={namespace}>
            <code>{namespace}</code> <span class="quiet">{texts.datasets(datasets)}</span>{' '}
            {canWrite() && sources.length > 0 && (
              <button
                class="small"
                aria-label={`${texts.map}: ${namespace}`}
                onClick={() => choose(namespace)}
              >
                {texts.map}
              </button>
            )}
          </li>
        ))}
      </ul>
      {chosen !== undefined && (
        <MapDialog namespace={chosen} sources={sources} reload={reload} close={() => choose(undefined)} />
      )}
    </>
  )
}

function MapDialog({
  namespace,
  sources,
  reload,
  close,
}: {
  namespace: string
  sources: readonly Source[]
  reload: () => void
  close: () => void
}) {
  const specs: FieldSpec[] = [
    {
      ...{ name: 'source_id', label: 'Source', kind: 'choice', isRequired: true, initial: sources[0]?.id },
      choices: sources.map(({ id, name }) => [id, name] as const),
    },
    {
      ...{ name: 'name_prefix', label: 'In front of the names', kind: 'text', maxLength: 500 },
      hint: 'Such as shop.public, where the names of datasets lack the database and the schema.',
    },
  ]
  const send = async (body: Record<string, unknown>) => {
    const { data } = await api.post('/api/v1/sdk/lineage/namespaces', {
      body: bodyOf<{ namespace: string; source_id: string }>({ namespace, ...body }),
    })
    notify(texts.mapped(data.moved_datasets))
    reload()
  }
  return (
    <FormDialog
      title={texts.mapOf(namespace)}
      id={`map ${namespace}`}
      specs={specs}
      label="Map"
      send={send}
      close={close}
    />
  )
}
