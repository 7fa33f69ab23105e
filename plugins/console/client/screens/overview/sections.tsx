import type { ComponentChildren } from 'preact'
import { texts } from '../../texts.ts'
import { AlertBars } from './alert-bars.tsx'
import { ChangeLines } from './change-lines.tsx'
import type { OverviewData } from './data.ts'
import { OpenIncidents } from './open-incidents.tsx'
import { Quality, QualityGroups } from './quality.tsx'
import { SourceGrid } from './source-grid.tsx'

/**
 * What the overview of a company shows below its numbers.
 * @param props.attention what is wrong, shown while no incident has it: alerts are grouped some seconds after they are
 *   raised
 */
export function Sections({ overview, attention }: { overview: OverviewData; attention: ComponentChildren }) {
  return (
    <>
      {overview.total_incidents === 0 && attention ? (
        <section>
          <div class="section-head">
            <h2>{texts.attentionList}</h2>
          </div>
          {attention}
        </section>
      ) : (
        <OpenIncidents overview={overview} />
      )}
      <div class="columns">
        <AlertBars overview={overview} />
        <Quality overview={overview} name="all tables" />
      </div>
      <SourceGrid sources={overview.sources} />
      <div class="columns">
        <ChangeLines changes={overview.changes} />
        <QualityGroups teams={overview.teams} tags={overview.tags} />
      </div>
    </>
  )
}
