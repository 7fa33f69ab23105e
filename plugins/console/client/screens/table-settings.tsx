import type { Table } from 'tidemark/client'
import { Fields, Form } from '../forms/fields.tsx'
import { useForm } from '../forms/form.ts'
import type { FieldSpec } from '../forms/schema.ts'
import { CopyButton } from '../forms/secret.tsx'
import { useAction } from '../lib/action.ts'
import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { canWrite } from '../lib/session.ts'
import { Help } from '../parts/help.tsx'
import { Icon } from '../parts/icons.tsx'
import { DefaultWindow } from '../checks/default-window.tsx'
import { Loaded } from '../parts/states.tsx'
import type { TabProps } from './props.ts'

const settingsTexts = {
  tags: 'Tags of the table',
  owners: 'Owners',
  ownerOrigins: {
    manual: 'set by hand',
    dbt: 'named by dbt',
    openlineage: 'named by OpenLineage',
    comment: 'named in its comment',
  },
} as const

const loadTags = async (id: string, signal: AbortSignal) =>
  (await api.get('/api/v1/sdk/tags', { query: { asset_id: id, limit: 100 }, signal })).data.tags
type Tag = Awaited<ReturnType<typeof loadTags>>[number]

/** What people set for a table: its default window, its owners and its tags. */
export function SettingsTab({ table, reload }: TabProps) {
  const tags = useData(`tags ${table.id}`, signal => loadTags(table.id, signal))
  const changed = () => {
    tags.reload()
    reload()
  }
  return (
    <>
      {!canWrite() && <p class="quiet">Only members, admins and owners change tables.</p>}
      <DefaultWindow table={table} reload={reload} />
      <section>
        <h2>
          {settingsTexts.owners}
          <Help page="owners" about={settingsTexts.owners} />
        </h2>
        <Owners table={table} reload={reload} />
      </section>
      <section>
        <h2>
          {settingsTexts.tags}
          <Help page="tags" about={settingsTexts.tags} />
        </h2>
        <Loaded of={tags} what={settingsTexts.tags.toLowerCase()} rows={2}>
          {(found: readonly Tag[]) => <TagList tags={found} reload={changed} />}
        </Loaded>
        {canWrite() && <NewTag table={table} reload={changed} />}
      </section>
      <section>
        <h2>For the API and for files</h2>
        <dl class="copied">
          {Object.entries({ 'Qualified name': table.qualified_name, Id: table.id }).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <code>{value}</code> <CopyButton text={value} />
              </dd>
            </div>
          ))}
        </dl>
      </section>
    </>
  )
}

const OWNERS: FieldSpec[] = [
  {
    ...{ name: 'owners', label: 'Owners of this table', kind: 'lines' },
    hint: 'Addresses, or names of teams. They go before what dbt, comments, the schema and the source say.',
  },
]

/** Who owns the table, by whom they are named, and those that people set for the table itself. */
function Owners({ table, reload }: TabProps) {
  const owners = table.owners ?? []
  // An address means its user; a team is known by its name.
  const own = owners.filter(({ origin, inherited_from: from }) => origin === 'manual' && from === null)
  const record = { owners: own.map(({ email, name }) => email ?? name) }
  const form = useForm(`owners ${table.id}`, OWNERS, record)
  const submit = () =>
    form.send(OWNERS, async body => {
      if (Object.hasOwn(body, 'owners'))
        await api.put('/api/v1/sdk/owners', {
          body: { asset_id: table.id, owners: (body.owners as string[] | null) ?? [] },
        })
      reload()
    })
  return (
    <>
      {owners.length === 0 && <p class="quiet">No owner is named.</p>}
      <ul>
        {owners.map(({ name, origin, inherited_from: from }) => (
          <li key={name}>
            <bdi>{name}</bdi>{' '}
            <span class="quiet">
              {settingsTexts.ownerOrigins[origin]}
              {from && `, from the ${from.type} ${from.name}`}
            </span>
          </li>
        ))}
      </ul>
      {canWrite() && (
        <Form form={form} submit={submit} label="Set owners">
          <Fields form={form} of={OWNERS} />
        </Form>
      )}
    </>
  )
}

/** The column of a tag's path; null for a tag of the table. */
const columnOf = ({ object_path: path, object_type: type }: Tag) =>
  type === 'column' ? (path?.split('.').at(-1) ?? null) : null

function TagList({ tags, reload }: { tags: readonly Tag[]; reload: () => void }) {
  if (tags.length === 0) return <p class="quiet">It carries no tag.</p>
  return (
    <ul class="tag-list">
      {tags.map(tag => (
        <TagItem key={tag.id} tag={tag} reload={reload} />
      ))}
    </ul>
  )
}

function TagItem({ tag, reload }: { tag: Tag; reload: () => void }) {
  const name = `Take off ${tag.name}`
  const [isBusy, remove] = useAction(name, async () => {
    await api.delete('/api/v1/sdk/tags/{id}', { path: { id: tag.id } })
    reload()
  })
  const column = columnOf(tag)
  return (
    <li>
      <span class="chip">
        <bdi>{tag.name}</bdi>
      </span>
      {column && (
        <code>
          <bdi>{column}</bdi>
        </code>
      )}
      {tag.origin === 'automatic' && <span class="quiet">by a discovery</span>}
      {canWrite() && (
        <button class="plain small" aria-label={name} title={name} disabled={isBusy} onClick={remove}>
          <Icon name="close" />
        </button>
      )}
    </li>
  )
}

function NewTag({ table, reload }: { table: Table; reload: () => void }) {
  const columns = (table.columns ?? []).map(({ name }) => [name, name] as const)
  const specs: FieldSpec[] = [
    {
      ...{ name: 'name', label: 'Tag', kind: 'text', isRequired: true, maxLength: 100 },
      hint: 'Such as finance or pii.email. The rows of columns that are tagged as personal data are hidden.',
    },
    {
      ...{ name: 'column', label: 'Column', kind: 'choice' },
      ...{ initial: '', choices: [['', 'The table itself'], ...columns] },
    },
  ]
  const form = useForm(`tag ${table.id}`, specs)
  const submit = () =>
    form.send(specs, async ({ name, column }) => {
      const path = typeof column === 'string' ? { object_path: `${table.table_path}.${quote(column)}` } : {}
      await api.post('/api/v1/sdk/tags', {
        body: {
          asset_id: table.id,
          name: name as string,
          ...path,
          ...(column !== undefined && { object_type: 'column' }),
        },
      })
      reload()
    })
  return (
    <Form form={form} submit={submit} label="Add a tag">
      <Fields form={form} of={specs} />
    </Form>
  )
}

/** A part of a path; one with a dot or a quote is quoted. */
const quote = (name: string) => (/[."]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)
