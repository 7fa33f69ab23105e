import { useState } from 'preact/hooks'
import type { Asset, Source } from 'tidemark/client'
import { Checkboxes } from '../../forms/fields.tsx'
import type { FormState } from '../../forms/form.ts'
import type { FieldSpec } from '../../forms/schema.ts'
import { api, isMissing } from '../../lib/api.ts'
import { useData, useDebounced } from '../../lib/data.ts'
import { useSources } from '../../parts/source-table.tsx'
import { describeError, Loaded } from '../../parts/states.tsx'
import { routingTexts } from './texts.ts'

const TABLE_TYPES = ['table', 'view', 'materialized_view', 'external_table'] as const
const MAX_RESULTS = 8
const TYPING_MS = 200
/** A name takes a request; a rule may have a thousand assets. */
const MAX_NAMED = 20

const linesOf = (form: FormState, { name }: FieldSpec) =>
  String(form.values[name] ?? '')
    .split('\n')
    .filter(line => line !== '')

/** The sources and tables of a rule, folded: most rules are for all. What it needs is asked for when it is opened. */
export function RuleAssets({ form, spec }: { form: FormState; spec: FieldSpec }) {
  const [isOpen, setOpen] = useState(false)
  const count = linesOf(form, spec).length
  return (
    <details
      class="more"
      open={isOpen || form.problems[spec.name] !== undefined}
      onToggle={(event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}
    >
      <summary>
        {spec.label}: {count === 0 ? 'all' : routingTexts.inAssets(count).replace('of ', '')}
      </summary>
      {isOpen && <AssetChoices form={form} spec={spec} />}
    </details>
  )
}

function AssetChoices({ form, spec }: { form: FormState; spec: FieldSpec }) {
  const sources = useSources()
  const [initial] = useState(() => linesOf(form, spec))
  const sourceIds = new Set(sources.data?.map(({ id }) => id))
  const unnamed = sources.data ? initial.filter(id => !sourceIds.has(id)) : []
  const named = useData(unnamed.length > 0 ? `assets ${unnamed.join(' ')}` : null, signal =>
    Promise.all(unnamed.slice(0, MAX_NAMED).map(id => loadName(id, signal))),
  )
  const [added, setAdded] = useState<readonly (readonly [id: string, name: string])[]>([])
  const add = ({ id, qualified_name: name }: Asset) => {
    if (!added.some(([known]) => known === id)) setAdded([...added, [id, name]])
    const chosen = linesOf(form, spec)
    if (!chosen.includes(id)) form.set(spec.name, [...chosen, id].join('\n'))
  }
  return (
    <>
      <Loaded of={sources} what={routingTexts.assets.toLowerCase()} rows={3}>
        {(found: readonly Source[]) => {
          const choices = [
            ...found.map(({ id, name }) => [id, name] as const),
            ...(named.data ?? []),
            ...added,
          ]
          return <Checkboxes form={form} spec={{ ...spec, choices: [...new Map(choices)] }} />
        }}
      </Loaded>
      {unnamed.length > MAX_NAMED && (
        <p class="quiet">{routingTexts.isUnknownMore(unnamed.length - MAX_NAMED)}</p>
      )}
      <TableSearch add={add} />
    </>
  )
}

async function loadName(id: string, signal: AbortSignal): Promise<readonly [string, string]> {
  try {
    const { data } = await api.get('/api/v1/sdk/assets/{asset_id}', { path: { asset_id: id }, signal })
    return [id, data.qualified_name]
  } catch (error) {
    if (!isMissing(error)) throw error
    return [id, 'a table that no longer exists']
  }
}

function TableSearch({ add }: { add: (asset: Asset) => void }) {
  const [text, setText] = useState('')
  const term = useDebounced(text.trim(), TYPING_MS)
  const found = useData(term ? `tables ${term}` : null, async signal => {
    const query = { search: term, asset_type: [...TABLE_TYPES], limit: MAX_RESULTS }
    return (await api.get('/api/v1/assets', { query, signal })).data
  })
  return (
    <>
      <label class="field">
        <span>Add a table: search for its name</span>
        <input
          type="search"
          autocomplete="off"
          maxlength={200}
          value={text}
          onInput={(event: Event) => setText((event.target as HTMLInputElement).value)}
          onKeyDown={(event: KeyboardEvent) => {
            // It would send the form.
            if (event.key === 'Enter') event.preventDefault()
          }}
        />
      </label>
      <div role="status">
        {found.error !== undefined && <p class="bad">{describeError(found.error)}</p>}
        {found.data?.length === 0 && <p class="quiet">No table has this name.</p>}
      </div>
      <ul class="results">
        {found.data?.map(asset => (
          <li key={asset.id}>
            <button type="button" class="link" onClick={() => add(asset)}>
              <bdi>{asset.qualified_name}</bdi>
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}
