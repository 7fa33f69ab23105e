import { html, type Children } from '../../lib/html.ts'
import { texts } from '../../texts.ts'
import { AlertBars } from './alert-bars.ts'
import { ChangeLines } from './change-lines.ts'
import type { OverviewData } from './data.ts'
import { OpenIncidents } from './open-incidents.ts'
import { Quality, QualityGroups } from './quality.ts'
import { SourceGrid } from './source-grid.ts'

/**
 * What the overview of a company shows below its numbers.
 * @param props.attention what is wrong, shown while no incident has it: alerts are grouped some seconds after they are
 *   raised
 */
export function Sections({ overview, attention }: { overview: OverviewData; attention: Children }) {
  const { incidents, total_incidents: total } = overview
  return html`${
      total === 0 && attention
        ? html`<section>
            <div class="section-head"><h2>${texts.attentionList}</h2></div>
            ${attention}
          </section>`
        : html`<${OpenIncidents} incidents=${incidents} total=${total} />`
    }
    <div class="columns">
      <${AlertBars} overview=${overview} />
      <${Quality} overview=${overview} name="all tables" />
    </div>
    <${SourceGrid} sources=${overview.sources} />
    <div class="columns">
      <${ChangeLines} changes=${overview.changes} />
      <${QualityGroups} teams=${overview.teams} tags=${overview.tags} />
    </div>`
}
