import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { html } from '../lib/html.ts'
import { useTitle } from '../parts/frame.ts'
import { Help } from '../parts/help.ts'
import { Empty, Loaded } from '../parts/states.ts'
import { Status } from '../parts/status.ts'
import { texts } from '../texts.ts'
import type { ScreenProps } from './props.ts'

const load = async (signal: AbortSignal) =>
  (await api.get('/api/v1/sdk/alerts/destinations', { query: { limit: 100 }, signal })).data.destinations
type Destination = Awaited<ReturnType<typeof load>>[number]

/** Where alerts are sent. A message about a destination links to it here. */
export function Routing({ name: chosenId }: ScreenProps) {
  const destinations = useData('destinations', load)
  useTitle(texts.routing)
  return html`<div class="page">
    <h1>${texts.routing}<${Help} page="destinations" about=${texts.routing} /></h1>
    <${Loaded} of=${destinations} what=${texts.routing.toLowerCase()} rows=${4}>
      ${(found: readonly Destination[]) =>
        found.length === 0
          ? html`<${Empty} title=${texts.noDestinations}>
              <p>
                <a class="button primary" href="/api/public/docs/destinations.md"
                  >${texts.howToAddDestination}</a
                >
              </p>
            <//>`
          : html`<table>
              <thead>
                <tr>
                  <th scope="col">${texts.name}</th>
                  <th scope="col">${texts.type}</th>
                  <th scope="col">${texts.status}</th>
                </tr>
              </thead>
              <tbody>
                ${found.map(
                  destination =>
                    html`<tr key=${destination.id} class=${destination.id === chosenId ? 'chosen' : ''}>
                      <th scope="row"><bdi>${destination.name}</bdi></th>
                      <td>${destination.destination_type}</td>
                      <td>
                        <${Status}
                          status=${destination.is_active ? 'ready' : 'unknown'}
                          word=${destination.is_active ? texts.active : texts.paused}
                        />
                      </td>
                    </tr>`,
                )}
              </tbody>
            </table>`}
    <//>
  </div>`
}
