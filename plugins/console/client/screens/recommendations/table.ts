import { html } from '../../lib/html.ts'
import { tableAddress } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { SelectAll } from '../../parts/table-head.ts'
import { texts } from '../../texts.ts'
import { recommendationTexts } from '../../texts/recommendations.ts'
import { Details } from './details.ts'
import type { Recommendation } from './requests.ts'

/** What a check is called before it is there. */
const nameOf = ({ type, column_name: column, parent }: Recommendation) =>
  [type, column, parent && `→ ${parent.table_path.split('.').at(-1)}.${parent.column_name}`]
    .filter(Boolean)
    .join(' ')

interface TableProps {
  recommendations: readonly Recommendation[]
  chosenId: string | undefined
  openId: string | null
  selected: ReadonlySet<string>
  toggle: (id: string) => void
  toggleDetails: (id: string) => void
  setSelected: (ids: ReadonlySet<string>) => void
}

/** Recommendations by table, with details of the one that is open. */
export function RecommendationTable({ recommendations, selected, setSelected, ...rows }: TableProps) {
  const isWriter = canWrite()
  const places = new Map(recommendations.map(({ id }, n) => [id, n]))
  const columns = isWriter ? 5 : 4
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${recommendationTexts.title}>
    <table class="recommendations">
      <thead>
        <tr>
          ${
            isWriter &&
            html`<${SelectAll}
              ids=${recommendations.map(({ id }) => id)}
              selected=${selected}
              setSelected=${setSelected}
              label=${recommendationTexts.selectAll}
            />`
          }
          <th scope="col">${recommendationTexts.check}</th>
          <th scope="col">${recommendationTexts.reason}</th>
          <th scope="col" class="right">${recommendationTexts.confidence}</th>
          <th scope="col">${recommendationTexts.cost}</th>
        </tr>
      </thead>
      ${[...Map.groupBy(recommendations, ({ asset_id: table }) => table)].map(
        ([table, those]) =>
          html`<tbody key=${table}>
            <tr class="group-row">
              <th scope="rowgroup" colspan=${columns}>
                <a href=${tableAddress(table)}><bdi>${those[0]!.table_path}</bdi></a>
              </th>
            </tr>
            ${those.map(
              recommendation =>
                html`<${Row}
                  ...${rows}
                  key=${recommendation.id}
                  recommendation=${recommendation}
                  place=${places.get(recommendation.id)}
                  isSelected=${selected.has(recommendation.id)}
                  isWriter=${isWriter}
                />`,
            )}
          </tbody>`,
      )}
    </table>
  </div>`
}

interface RowProps extends Pick<TableProps, 'chosenId' | 'openId' | 'toggle' | 'toggleDetails'> {
  recommendation: Recommendation
  place: number
  isSelected: boolean
  isWriter: boolean
}

function Row({
  recommendation,
  place,
  isSelected,
  isWriter,
  chosenId,
  openId,
  toggle,
  toggleDetails,
}: RowProps) {
  const { id, reason, confidence, cost, dismiss_reason: why } = recommendation
  const name = nameOf(recommendation)
  const isOpen = openId === id
  return html`<tr id=${`row-${place}`} class=${chosenId === id ? 'chosen' : ''}>
      ${
        isWriter &&
        html`<td>
          <input
            type="checkbox"
            checked=${isSelected}
            aria-label=${texts.select(name)}
            onChange=${() => toggle(id)}
          />
        </td>`
      }
      <th scope="row">
        <button class="link" aria-expanded=${isOpen} onClick=${() => toggleDetails(id)}>
          <bdi>${name}</bdi>
        </button>
      </th>
      <td class="reason"><bdi>${reason}</bdi>${why && html`${' '}<span class="quiet">${why}</span>`}</td>
      <td class="right">${Math.round(confidence * 100)} %</td>
      <td class="quiet">
        ${
          cost.statements_per_day === 0
            ? recommendationTexts.noFurther
            : recommendationTexts.statements(cost.statements_per_day, cost.rows_per_day)
        }
      </td>
    </tr>
    ${
      isOpen &&
      html`<tr>
        <td colspan=${isWriter ? 5 : 4}><${Details} recommendation=${recommendation} /></td>
      </tr>`
    }`
}
