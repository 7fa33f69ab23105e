import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { html } from '../../lib/html.ts'
import { sourceAddress, useQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { useTitle } from '../../parts/frame.ts'
import { Help } from '../../parts/help.ts'
import { Paging, readOffset } from '../../parts/paging.ts'
import { Empty, Loaded } from '../../parts/states.ts'
import { Status } from '../../parts/status.ts'
import { contractTexts as texts } from '../../texts/contracts.ts'
import type { ScreenProps } from '../props.ts'
import { NewContract } from './contract-form.ts'
import { BASE, contractAddress } from './contract-address.ts'
import { ContractPage } from './contract-page.ts'

const LIST_LIMIT = 50

/** What sources promise: all contracts, or one of them. */
export function Contracts({ name }: ScreenProps) {
  const [query] = useQuery()
  useTitle(name === '' ? texts.title : name)
  if (name) return html`<${ContractPage} key=${name} name=${name} />`
  return query.has('add') && canWrite() ? html`<${NewContract} />` : html`<${ContractList} />`
}

const loadContracts = async (offset: number, signal: AbortSignal) =>
  (await api.get('/api/v1/sdk/contracts', { query: { limit: LIST_LIMIT, offset }, signal })).data
type ContractsPage = Awaited<ReturnType<typeof loadContracts>>

function ContractList() {
  const [query] = useQuery()
  const offset = readOffset(query)
  const asked = useData(`contracts ${offset}`, signal => loadContracts(offset, signal))
  const add =
    canWrite() &&
    html`<p class="actions above"><a class="button primary" href="${BASE}?add=1">${texts.add}</a></p>`
  return html`<div class="page">
    <${Loaded} of=${asked} what=${texts.title.toLowerCase()} rows=${6}>
      ${({ contracts, summary, pagination }: ContractsPage) =>
        pagination.total === 0
          ? html`<${Empty} title=${texts.none} isScreen=${true}
              ><p>${texts.about}</p>
              ${add}<//
            >`
          : html`<h1>
                ${texts.summary(pagination.total, summary.failing, summary.failing_clauses)}<${Help}
                  page="contracts#enforce-a-contract"
                  about=${texts.title}
                />
              </h1>
              <div class="headline list-head">
                <p class="quiet">${texts.about}</p>
                ${add}
              </div>
              <div class="scroll" tabindex="0" role="region" aria-label=${texts.title}>
                <table>
                  <thead>
                    <tr>
                      <th scope="col">${texts.name}</th>
                      <th scope="col">${texts.status}</th>
                      <th scope="col">${texts.clauses}</th>
                      <th scope="col">${texts.source}</th>
                      <th scope="col">${texts.owner}</th>
                      <th scope="col">${texts.version}</th>
                    </tr>
                  </thead>
                  <tbody>
                    ${contracts.map(contract => html`<${Row} key=${contract.name} contract=${contract} />`)}
                  </tbody>
                </table>
              </div>
              <${Paging} pagination=${pagination} />`}
    <//>
  </div>`
}

function Row({ contract }: { contract: ContractsPage['contracts'][number] }) {
  const { name, status, counts, source_name: source, owner, version } = contract
  return html`<tr>
    <th scope="row">
      <a href=${contractAddress(name)}><bdi>${name}</bdi></a>
    </th>
    <td><${Status} status=${status} word=${texts.statusWords[status]} /></td>
    <td>${texts.clausesOf(counts)}</td>
    <td>
      <a href=${sourceAddress(source)}><bdi>${source}</bdi></a>
    </td>
    <td><bdi>${owner ?? '–'}</bdi></td>
    <td><bdi>${version ?? '–'}</bdi></td>
  </tr>`
}
