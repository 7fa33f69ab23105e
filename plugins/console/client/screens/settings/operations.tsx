import { useState } from 'preact/hooks'
import type { DeadJob, Extension, JobQueue, Operations as Found, WhichDeadJobs } from 'tidemark/client'
import { useAction } from '../../lib/action.ts'
import { api } from '../../lib/api.ts'
import { countOf, formatNumber } from '../../lib/format.ts'
import { useData } from '../../lib/data.ts'
import { tableAddress, useQuery } from '../../lib/router.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { useSession } from '../../parts/frame.tsx'
import { notify } from '../../parts/notices.tsx'
import { pageSizeOf, Paging, readOffset, type PageOfList } from '../../parts/paging.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import { texts as shared } from '../../texts.ts'
import { operationsTexts as texts } from './operations-texts.ts'

const POLL_MS = 15_000

interface DeadPage {
  data: DeadJob[]
  pagination: PageOfList
}

/** The state of the service, the jobs of the company, and what to do about those that failed for good. */
export function Operations() {
  const [query] = useQuery()
  const { preferences } = useSession()
  const page = { limit: pageSizeOf(preferences), offset: readOffset(query) }
  const state = useData(
    'operations',
    async signal => (await api.get('/api/v1/sdk/operations', { signal })).data,
    { pollMs: POLL_MS },
  )
  const dead = useData<DeadPage>(`dead jobs ${JSON.stringify(page)}`, signal =>
    api.get('/api/v1/sdk/operations/dead-jobs', { query: page, signal }),
  )
  const reload = () => {
    state.reload()
    dead.reload()
  }
  return (
    <>
      <section>
        <Loaded of={state} what={shared.operations.toLowerCase()} rows={6}>
          {(found: Found) => <Summary of={found} />}
        </Loaded>
      </section>
      <section>
        <h2>{texts.deadJobs}</h2>
        <Loaded of={dead} what={texts.deadJobs.toLowerCase()} rows={2}>
          {({ data: jobs, pagination }: DeadPage) =>
            pagination.total === 0 ? (
              <p class="quiet">No job failed for good.</p>
            ) : (
              <>
                <div class="headline">
                  <p class="quiet">Send them again once the cause is mended. They are kept for 30 days.</p>
                  <span class="actions">
                    <DeadActions which={{ all: true }} reload={reload} />
                  </span>
                </div>
                <DeadTable jobs={jobs} reload={reload} />
                <Paging pagination={pagination} />
              </>
            )
          }
        </Loaded>
      </section>
    </>
  )
}

function Summary({ of: { queues, ...service } }: { of: Found }) {
  const sum = (count: (queue: JobQueue) => number) => queues.reduce((total, queue) => total + count(queue), 0)
  const isLate = service.jobs === 'late'
  const headline = texts.headline(
    sum(({ waiting, later }) => waiting + later),
    sum(({ running }) => running),
    sum(({ dead }) => dead),
    isLate,
  )
  return (
    <>
      <h2>{headline}</h2>
      {isLate && <p>Ask an operator of the installation to start a worker: ROLE=worker, or ROLE=all.</p>}
      <dl class="facts">
        <div>
          <dt>The service</dt>
          <dd>
            <Status status={service.status} word={texts.statuses[service.status]} />
          </dd>
        </div>
        <div>
          <dt>Jobs</dt>
          <dd>
            <Status status={service.jobs === 'up' ? 'ok' : 'failed'} word={texts.jobStates[service.jobs]} />
          </dd>
        </div>
        <div>
          <dt>Workers of this process</dt>
          <dd>
            <Status status={WORKER_TONES[service.workers]} word={texts.workerStates[service.workers]} />
          </dd>
        </div>
        <div>
          <dt>Versions</dt>
          <dd>{texts.versionsOf(service.versions)}</dd>
        </div>
        <div>
          <dt>Running for</dt>
          <dd>{texts.uptime(service.uptime_seconds)}</dd>
        </div>
        <div>
          <dt>Job dashboard</dt>
          <dd>
            <Dashboard url={service.dashboard_url} />
          </dd>
        </div>
      </dl>
      <h2 class="section">{texts.queues}</h2>
      <QueueTable queues={queues} />
      {service.extensions.length > 0 && (
        <>
          <h2 class="section">{texts.extensions}</h2>
          <DataTable
            label={texts.extensions}
            columns={EXTENSION_COLUMNS}
            rows={service.extensions}
            keyOf={({ name }: Extension) => name}
          />
        </>
      )}
    </>
  )
}

const WORKER_TONES = { up: 'ok', stuck: 'failed', none: 'unknown' } as const

function Dashboard({ url }: { url: string | null }) {
  return url === null ? (
    <>
      {texts.dashboardCommand} <code>tidemark dashboard</code>
    </>
  ) : (
    <a href={url} rel="noreferrer">
      Open the job dashboard
    </a>
  )
}

const EXTENSION_COLUMNS: Column<Extension>[] = [
  { label: 'Extension', isName: true, cell: ({ name }) => <bdi>{name}</bdi> },
  { label: 'Version', cell: ({ version }) => version },
  {
    label: 'Adds',
    cellClass: 'wraps',
    cell: ({ adds }) => adds.map(({ what, name }) => `${what} ${name}`).join(', '),
  },
]

const COUNTS = ['waiting', 'later', 'running', 'dead'] as const

const QUEUE_COLUMNS: Column<JobQueue>[] = [
  { label: 'Queue', isName: true, cell: ({ queue }) => <code>{queue}</code> },
  { label: texts.work, cell: ({ queue }) => texts.works[queue] },
  ...COUNTS.map(name => ({
    label: texts[name],
    className: 'right',
    cell: (queue: JobQueue) => formatNumber(queue[name]),
  })),
  {
    label: 'Waits since',
    cell: ({ oldest_waiting_at: at }) => at && <Ago at={at} />,
  },
]

/** Queues that hold a job of the company. */
function QueueTable({ queues }: { queues: readonly JobQueue[] }) {
  return (
    <DataTable
      label={texts.queues}
      columns={QUEUE_COLUMNS}
      rows={queues.filter(queue => COUNTS.some(name => queue[name] > 0))}
      keyOf={({ queue }: JobQueue) => queue}
      empty={<p class="quiet">No job of your company waits, runs or has failed.</p>}
    />
  )
}

function DeadTable({ jobs, reload }: { jobs: readonly DeadJob[]; reload: () => void }) {
  const columns: Column<DeadJob>[] = [
    { label: 'About', isName: true, cell: job => <Asset of={job} /> },
    { label: texts.work, cell: ({ queue }) => texts.works[queue] ?? <code>{queue}</code> },
    { label: 'Why the last try failed', cellClass: 'wraps', cell: job => <bdi>{job.reason}</bdi> },
    { label: 'Tries', className: 'right', cell: job => formatNumber(job.attempts) },
    { label: 'Failed', cell: job => <Ago at={job.died_at} /> },
    {
      label: 'Action',
      cell: job => <DeadActions which={{ ids: [job.id] }} job={job} reload={reload} />,
    },
  ]
  return <DataTable label={texts.deadJobs} columns={columns} rows={jobs} />
}

function Asset({ of: { asset_id: id, asset_type: type, asset_name: name } }: { of: DeadJob }) {
  if (id === null) return <span class="quiet">No table or source</span>
  if (name === null) return <span class="quiet">Removed since</span>
  return (
    <a href={type === 'table' ? tableAddress(name) : `/sources/${encodeURIComponent(name)}`}>
      <bdi>{name}</bdi>
    </a>
  )
}

/** Buttons that send dead jobs again, or discard them after a question. @param props.job absent: all */
function DeadActions({ which, job, reload }: { which: WhichDeadJobs; job?: DeadJob; reload: () => void }) {
  const [isAsking, setAsking] = useState(false)
  const [isBusy, redrive] = useAction(texts.redrive, async () => {
    const { data } = await api.post('/api/v1/sdk/operations/dead-jobs/redrive', {
      body: which,
    })
    notify(`${countOf(data.redriven, 'job')} sent again.`)
    reload()
  })
  const discard = async () => {
    const { data } = await api.post('/api/v1/sdk/operations/dead-jobs/discard', {
      body: which,
    })
    notify(`${countOf(data.discarded, 'job')} discarded.`)
    reload()
  }
  const name = job && (job.asset_name ?? job.queue)
  return (
    <>
      <button class="small" disabled={isBusy} aria-label={name && `Send again: ${name}`} onClick={redrive}>
        {name ? texts.redrive : 'Send all again'}
      </button>{' '}
      <button class="small" aria-label={name && texts.discardOf(name)} onClick={() => setAsking(true)}>
        {name ? texts.discard : texts.discardAll}
      </button>
      {isAsking && (
        <ConfirmDialog
          title={name ? texts.discardOf(name) : texts.discardAll}
          action={texts.discard}
          work={discard}
          close={() => setAsking(false)}
        >
          <p>
            {name
              ? 'The job is deleted, and what it was to do is not done.'
              : 'The jobs are deleted, and what they were to do is not done.'}
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}
