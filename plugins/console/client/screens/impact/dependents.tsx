import { countOf, inWords } from '../../lib/format.ts'
import { AssetName, hasPage } from './asset-name.tsx'

/** A table or an outside thing that is made from what an alert or a change is about. */
export interface Dependent {
  id: string
  name: string
  qualified_name: string
  asset_type: string
  url: string | null
  distance: number
  certainty: string
  columns: string[] | null
  owners: { name: string; email: string | null }[]
}

export interface Affected {
  tables: Dependent[]
  dashboards: Dependent[]
  owners: { name: string; email: string | null; assets: number }[]
  is_complete: boolean
}

/** What is hit, the nearest first, each with its columns where they are known, and who owns it. */
export function AffectedLists({
  of: { tables, dashboards, owners, is_complete: isComplete },
}: {
  of: Affected
}) {
  return (
    <>
      <DependentList title="Tables made from it" of={tables} />
      <DependentList title="Dashboards and others" of={dashboards} />
      {owners.length > 0 && (
        <>
          <p class="hit-title">Owners to notify</p>
          <ul class="hit">
            {owners.map(({ name, email, assets }) => (
              <li key={`${name} ${email}`}>
                <bdi>{name}</bdi>
                {email && email !== name && (
                  <span class="quiet">
                    <bdi>{email}</bdi>
                  </span>
                )}
                <span class="quiet">{countOf(assets, 'asset')}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {!isComplete && <p class="quiet">There is more than was followed.</p>}
    </>
  )
}

function DependentList({ title, of: dependents }: { title: string; of: readonly Dependent[] }) {
  if (dependents.length === 0) return null
  return (
    <>
      <p class="hit-title">
        {title} <span class="count">{dependents.length}</span>
      </p>
      <ul class="hit">
        {dependents.map(dependent => (
          <li key={dependent.id}>
            <AssetName of={dependent} isTable={hasPage(dependent.asset_type)} />
            {!hasPage(dependent.asset_type) && <span class="quiet">{inWords(dependent.asset_type)}</span>}
            <Columns of={dependent.columns} />
            <span class="quiet">{countOf(dependent.distance, 'step')}</span>
            {dependent.owners.length > 0 && (
              <span class="quiet">
                <bdi>{dependent.owners.map(({ name }) => name).join(', ')}</bdi>
              </span>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}

/** Null where columns are not known, empty where the rows are hit. */
function Columns({ of: columns }: { of: readonly string[] | null }) {
  if (columns === null)
    return (
      <span class="quiet" title="Its columns are not known, so it may not use what is changed.">
        possibly
      </span>
    )
  if (columns.length === 0) return <span class="quiet">its rows</span>
  return (
    <code>
      <bdi>{columns.join(', ')}</bdi>
    </code>
  )
}
