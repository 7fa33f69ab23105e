import type { Source } from 'tidemark/client'
import { countOf } from '../../lib/format.ts'
import { useData } from '../../lib/data.ts'
import { changeQuery, sourceAddress, tableAddress, useQuery, withQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { Choice } from '../../parts/filters.tsx'
import { useSession, useTitle } from '../../parts/frame.tsx'
import { Help } from '../../parts/help.tsx'
import { pageSizeOf, readOffset } from '../../parts/paging.tsx'
import { useSources } from '../../parts/source-table.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { ListTools } from '../../parts/table/list-tools.tsx'
import { useRows } from '../../parts/table/use-rows.ts'
import { texts } from '../../texts.ts'
import { recommendationTexts } from './texts.ts'
import { ApplyAll, SelectionActions } from './actions.tsx'
import { CHECK_COLUMNS, nameRecommendation, RecommendationTable } from './table.tsx'
import {
  CONFIDENCES,
  KINDS,
  loadRecommendations,
  readFilters,
  STATUSES,
  type Recommendation,
  type RecommendationList,
} from './requests.ts'

const FILTERS = ['kind', 'confidence', 'status'] as const

/** Recommended checks of a source, by table; the source and the filters stand in the address. */
export function Recommendations() {
  const sources = useSources({ sort: 'name', order: 'asc' })
  useTitle(recommendationTexts.title)
  return (
    <div class="page">
      <Loaded of={sources} what={texts.sources.toLowerCase()} rows={12}>
        {(found: Source[]) =>
          found.length === 0 ? (
            <Empty title="No sources yet" isScreen={true}>
              <p>
                <a class="button primary" href="/sources?add=">
                  Add a source
                </a>
              </p>
            </Empty>
          ) : (
            <SourceRecommendations sources={found} />
          )
        }
      </Loaded>
    </div>
  )
}

function SourceRecommendations({ sources }: { sources: readonly Source[] }) {
  const [query] = useQuery()
  const { preferences } = useSession()
  const source = query.get('source') ?? sources[0]!.name
  const filters = readFilters(query)
  const asked = { asset_id: source, ...filters, limit: pageSizeOf(preferences), offset: readOffset(query) }
  const key = JSON.stringify(asked)
  const list = useData<RecommendationList>(`recommendations ${key}`, signal =>
    loadRecommendations(asked, signal),
  )
  const open = query.get('open')
  const toggleDetails = ({ id }: Recommendation) => changeQuery({ open: open === id ? null : id })
  const { place, selection, targets, setSelected } = useRows(key, list.data?.recommendations ?? [], {
    name: recommendationTexts.check,
    openText: 'Show or hide details',
    open: toggleDetails,
    select: { nameOf: nameRecommendation, allLabel: 'Select all recommendations on this page' },
  })
  const changed = () => {
    setSelected(new Set())
    list.reload()
  }
  const total = list.data?.pagination.total
  const { status: _status, ...all } = { ...filters, asset_id: source }
  const canApplyAll = canWrite() && !query.has('status') && (total ?? 0) > 0
  return (
    <>
      <div class="headline">
        <h1>
          {total === undefined ? recommendationTexts.title : countOf(total, 'recommended check')}
          <Help page="recommendations" about={recommendationTexts.title} />
        </h1>
        <ListTools
          list="recommendations"
          path="/recommendations"
          columns={CHECK_COLUMNS}
          load={async (page: { limit: number; offset: number }, signal: AbortSignal) => {
            const { recommendations, pagination } = await loadRecommendations({ ...asked, ...page }, signal)
            return { rows: recommendations, total: pagination.total }
          }}
        />
      </div>
      <RecommendationFilters sources={sources} source={source} />
      {canApplyAll && (
        <p class="actions above">
          <ApplyAll count={total!} all={all} changed={changed} />
        </p>
      )}
      <Loaded of={list} what={recommendationTexts.title.toLowerCase()} rows={12}>
        {({ recommendations, pagination }: RecommendationList) =>
          recommendations.length === 0 ? (
            <NoRecommendations source={source} isTable={!sources.some(({ name }) => name === source)} />
          ) : (
            <RecommendationTable
              recommendations={recommendations}
              place={place}
              paging={pagination}
              openId={open}
              toggleDetails={toggleDetails}
              selection={selection}
            />
          )
        }
      </Loaded>
      {targets.length > 0 && (
        <div class="bulk">
          <span role="status">{texts.selected(targets.length)}</span>
          <SelectionActions targets={targets} changed={changed} />
        </div>
      )}
    </>
  )
}

function RecommendationFilters({ sources, source }: { sources: readonly Source[]; source: string }) {
  const [query] = useQuery()
  const isFiltered = FILTERS.some(name => query.has(name))
  const clear = Object.fromEntries([...FILTERS, 'offset'].map(name => [name, null]))
  const isKnown = sources.some(({ name }) => name === source)
  return (
    <div class="filters">
      <select
        aria-label="Source"
        value={source}
        onChange={(event: Event) =>
          changeQuery({ source: (event.target as HTMLSelectElement).value, offset: null, open: null })
        }
      >
        {sources.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
        {!isKnown && <option value={source}>{source}</option>}
      </select>
      <Choice
        name="kind"
        label={texts.kind}
        none={texts.anyKind}
        options={KINDS.map(kind => [kind, recommendationTexts.kinds[kind]] as const)}
      />
      <Choice
        name="confidence"
        label={recommendationTexts.confidence}
        none="Any confidence"
        options={CONFIDENCES.map(each => [String(each), `Confidence from ${each} %`] as const)}
      />
      <Choice
        name="status"
        label="Status"
        none="Not decided yet"
        options={STATUSES.map(status => [status, recommendationTexts.statuses[status]] as const)}
      />
      {isFiltered && (
        <button class="link" onClick={() => changeQuery(clear)}>
          {texts.clearFilters}
        </button>
      )}
    </div>
  )
}

function NoRecommendations({ source, isTable }: { source: string; isTable: boolean }) {
  const [query] = useQuery()
  if (FILTERS.some(name => query.has(name)) || query.has('offset'))
    return <Empty title="No recommendation matches" />
  return (
    <Empty title="Nothing to recommend">
      <p>
        {isTable
          ? 'All recommended checks exist or were decided on. A new profile may recommend more.'
          : 'All recommended checks exist or were decided on. Watch a source at the level standard to have its tables profiled, which recommends more.'}
      </p>
      <p>
        <a
          class="button"
          href={
            isTable ? tableAddress(source, 'profile') : withQuery(sourceAddress(source), { tab: 'watch' })
          }
        >
          {isTable ? 'See its profile' : 'Watch its tables'}
        </a>
      </p>
    </Empty>
  )
}
