import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { tableAddress } from '../../lib/router.ts'
import { Loaded } from '../../parts/states.tsx'
import { Severity } from '../../parts/status.tsx'
import { AffectedLists } from './dependents.tsx'

const load = async (id: string, signal: AbortSignal) =>
  (await api.get('/api/v1/sdk/schema/changes/{change_id}/impact', { path: { change_id: id }, signal })).data
type Impact = Awaited<ReturnType<typeof load>>

/** What lies downstream of a schema change, by column where that is known, and who owns it. */
export function ChangeImpact({ change }: { change: { id: string; qualified_name: string } }) {
  const asked = useData(`impact ${change.id}`, signal => load(change.id, signal))
  return (
    <div class="opened">
      <Loaded of={asked} what="what it hits" rows={3}>
        {(impact: Impact) => (
          <>
            <p>
              <Severity level={impact.level} word={impact.sentence} />
            </p>
            <AffectedLists of={impact} />
            <Names title="Checks" of={impact.checks.map(({ name }) => name)} />
            <Names
              title="Contracts"
              of={impact.contracts.map(({ contract, title }) => `${contract}: ${title}`)}
            />
            <p class="actions above">
              <a class="button small" href={tableAddress(change.qualified_name, 'lineage')}>
                See the lineage
              </a>
            </p>
          </>
        )}
      </Loaded>
    </div>
  )
}

function Names({ title, of: names }: { title: string; of: readonly string[] }) {
  if (names.length === 0) return null
  return (
    <>
      <p class="hit-title">{title}</p>
      <ul class="hit">
        {names.map(name => (
          <li key={name}>
            <bdi>{name}</bdi>
          </li>
        ))}
      </ul>
    </>
  )
}
