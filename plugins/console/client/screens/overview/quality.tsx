import { formatNumber } from '../../lib/format.ts'
import { withQuery } from '../../lib/router.ts'
import { Help } from '../../parts/help.tsx'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import type { OverviewData } from './data.ts'
import { hasHistory, overviewTexts as texts } from './texts.ts'

const WIDTH = 300
const HEIGHT = 60
/** The lowest share that the line shows at least, so that small changes of good scores are seen and not blown up. */
const DEFAULT_FLOOR = 80

/** The history of a score as a line; gaps where nothing was watched. */
export function ScoreLine({ scores, name }: { scores: readonly (number | null)[]; name: string }) {
  const known = scores.filter(score => score !== null)
  const floor = Math.min(DEFAULT_FLOOR, ...known.map(score => Math.floor(score / 10) * 10))
  const x = (n: number) => ((n + 0.5) * WIDTH) / scores.length
  const y = (score: number) => 3 + ((100 - score) * (HEIGHT - 6)) / (100 - floor)
  const points = scores.map((score, n) => ({ score, n }))
  const line = points
    .map(({ score, n }) =>
      score === null
        ? ''
        : `${n === 0 || scores[n - 1] === null ? 'M' : 'L'}${x(n).toFixed(1)} ${y(score).toFixed(1)}`,
    )
    .join('')
  // One day alone would be no line.
  const dots = points.filter(({ n }) => scores[n - 1] == null && scores[n + 1] == null)
  return (
    <svg
      class="score-line"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={texts.historyOf(name)}
    >
      <path class="ground" d={`M0 ${y(100)}H${WIDTH}`} />
      <path d={line} />
      {dots.map(({ score, n }) => score !== null && <path key={n} d={`M${x(n) - 3} ${y(score)}h6`} />)}
    </svg>
  )
}

/** The quality score of all tables, and how it was. */
export function Quality({
  overview: { score, scores, watched_tables: watched, affected_tables: affected },
  name,
}: {
  overview: Pick<OverviewData, 'score' | 'scores' | 'watched_tables' | 'affected_tables'>
  /** Whose score it is. */
  name: string
}) {
  return (
    <section>
      <div class="section-head">
        <h2>
          {texts.score}
          <Help page="coverage#overview-and-quality-score" about={texts.score} />
        </h2>
      </div>
      <div class="score">
        <p>
          <span class="value">{texts.scoreOf(score, scores)}</span>
          <span>{watched === 0 ? texts.notScored : texts.today(affected, watched)}</span>
        </p>
        <ScoreLine scores={scores} name={name} />
        <p class="quiet">{texts.scoreText}</p>
      </div>
    </section>
  )
}

type Group = OverviewData['tags'][number] & { kind: 'team' | 'tag' }

/** The teams and tags whose tables have the lowest scores. */
export function QualityGroups({ teams, tags }: Pick<OverviewData, 'teams' | 'tags'>) {
  const groups: Group[] = [
    ...teams.map(group => ({ ...group, kind: 'team' as const })),
    ...tags.map(group => ({ ...group, kind: 'tag' as const })),
  ]
  return (
    <section>
      <div class="section-head">
        <h2>{texts.groups}</h2>
      </div>
      {groups.length === 0 ? (
        <p class="card-line quiet">{texts.noGroups}</p>
      ) : (
        <DataTable
          label={texts.groups}
          className="quality-groups stacked"
          columns={GROUP_COLUMNS}
          rows={groups}
          keyOf={({ kind, name }: Group) => `${kind} ${name}`}
        />
      )}
    </section>
  )
}

const GROUP_COLUMNS: Column<Group>[] = [
  {
    label: 'Team or tag',
    isName: true,
    cell: ({ kind, name }) => (
      <>
        {kind === 'tag' ? (
          <a href={withQuery('/catalog', { tag: name })}>
            <bdi>{name}</bdi>
          </a>
        ) : (
          <bdi>{name}</bdi>
        )}{' '}
        <span class="quiet">{texts[kind]}</span>
      </>
    ),
  },
  {
    label: texts.tables,
    className: 'right',
    cell: group => (
      <>
        {formatNumber(group.watched_tables)}
        <span class="cell-label" aria-hidden="true">
          {' '}
          {group.watched_tables === 1 ? 'table' : 'tables'}
        </span>
      </>
    ),
  },
  { label: texts.quality, cell: group => <ScoreCell of={group} /> },
]

/** A score and its history in a cell. */
export function ScoreCell({
  of,
}: {
  of: { name: string; score: number | null; scores: readonly (number | null)[] }
}) {
  return (
    <span class="score-cell">
      <span>{texts.scoreOf(of.score, of.scores)}</span>
      {hasHistory(of.scores) && <ScoreLine scores={of.scores} name={of.name} />}
    </span>
  )
}
