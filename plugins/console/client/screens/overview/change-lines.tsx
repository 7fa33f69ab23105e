import { inWords } from '../../lib/format.ts'
import { withQuery } from '../../lib/router.ts'
import { Shape, toneOf } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import type { OverviewData } from './data.ts'
import { overviewTexts as texts } from './texts.ts'

type Change = OverviewData['changes'][number]

/** Schema changes to review, each with what is made from its table. */
export function ChangeLines({ changes, source }: { changes: readonly Change[]; source?: string }) {
  return (
    <section>
      <div class="section-head">
        <h2>{texts.changes}</h2>
        {changes.length > 0 && (
          <a href={withQuery('/changes', { source: source ?? null })}>{texts.allChanges}</a>
        )}
      </div>
      {changes.length === 0 ? (
        <p class="card-line">
          <Shape tone="ok" /> {texts.noChanges}
        </p>
      ) : (
        <ul class="list change-lines">
          {changes.map(change => (
            <ChangeLine key={change.id} change={change} />
          ))}
        </ul>
      )}
    </section>
  )
}

function ChangeLine({ change }: { change: Change }) {
  const { table_name: table, object_name: name, change_type: type, downstream_count: reach } = change
  const what = name === table ? inWords(type) : `${inWords(type)}: ${name}`
  return (
    <li>
      <a href={withQuery('/changes', { source: change.qualified_name, change: change.id })}>
        <Shape tone={toneOf(change.impact)} />
        <span class="hidden">{change.impact} risk</span>
        <span class="text">
          <strong>
            <bdi>{table}</bdi>
          </strong>{' '}
          <bdi>{what}</bdi>
        </span>
        <span class="quiet">{texts.downstream(reach)}</span>
        <Ago at={change.detected_at} />
      </a>
    </li>
  )
}
