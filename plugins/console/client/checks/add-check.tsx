import { useState } from 'preact/hooks'
import type { CheckType, Table } from 'tidemark/client'
import { countOf } from '../lib/format.ts'
import { Form } from '../forms/fields.tsx'
import { useForm } from '../forms/form.ts'
import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { changeQuery, useQuery, withQuery } from '../lib/router.ts'
import { ConfirmDialog } from '../parts/confirm.tsx'
import { notify } from '../parts/notices.tsx'
import { Loaded } from '../parts/states.tsx'
import { Status } from '../parts/status.tsx'
import { tuningTexts } from './texts.ts'
import { texts } from '../texts.ts'
import { CheckFields } from './check-fields.tsx'
import { readColumns } from './column-choice.tsx'
import { withoutWindow } from './scope-specs.ts'
import { comparisonTexts } from './comparison-texts.ts'
import { previewOf } from './preview-input.ts'
import { Preview } from './preview.tsx'
import { ExistingNote } from './existing-note.tsx'
import {
  createCheck,
  createChecks,
  type CheckKind,
  type ColumnResult,
  type ExistingCheck,
} from './requests.ts'
import { COLUMNS, listSpecs, newSpecs, withoutHidden } from './specs.ts'

/** The kinds of checks without types, which stand among the types. */
const KINDS = {
  referential: {
    group: 'References: do values occur in another table',
    title: tuningTexts.referential,
    description: tuningTexts.referentialText,
  },
  comparison: {
    group: comparisonTexts.group,
    title: comparisonTexts.title,
    description: comparisonTexts.text,
  },
} as const

type UntypedKind = keyof typeof KINDS

const isUntyped = (word: string): word is UntypedKind => Object.hasOwn(KINDS, word)

/** An empty name is kept in the address: it shows the list of types. */
const addressOf = (type: string) =>
  type === '' ? `${location.pathname}?add` : withQuery(location.pathname, { add: type })

/** Adds a check to a table: first what is checked, then how, with a dry run beside it. */
export function AddCheck({ table, done }: { table: Table; done: () => void }) {
  const [query] = useQuery()
  const types = useData(`check types ${table.id}`, async signal => {
    const { data } = await api.get('/api/v1/sdk/check-types', { query: { asset_id: table.id }, signal })
    return data.items.filter(({ column, columns }) => column !== 'required' || columns?.length !== 0)
  })
  const chosen = query.get('add') ?? ''
  return (
    <section>
      <p>
        <a href={location.pathname}>{tuningTexts.back}</a>
      </p>
      <h2>{tuningTexts.addTitle(table.name)}</h2>
      <Loaded of={types} what={texts.checks.toLowerCase()} rows={8}>
        {(items: readonly CheckType[]) => {
          const type = items.find(item => item.type === chosen)
          if (type) return <NewCheck key={chosen} table={table} type={type} done={done} />
          if (!isUntyped(chosen)) return <TypeList types={items} />
          return <NewCheck key={chosen} table={table} untyped={chosen} done={done} />
        }}
      </Loaded>
    </section>
  )
}

function TypeList({ types }: { types: readonly CheckType[] }) {
  const groups = (['rule', 'metric'] as const).map(
    family =>
      [
        tuningTexts.groups[family],
        types
          .filter(type => type.family === family)
          .map(({ type, label, description }) => ({ id: type, title: label, description })),
      ] as const,
  )
  const others = Object.entries(KINDS).map(
    ([id, { group, ...texts }]) => [group, [{ id, ...texts }]] as const,
  )
  return (
    <>
      <p>What should be checked?</p>
      {[...groups, ...others].map(([title, items]) => (
        <>
          <h3 key={title}>{title}</h3>
          <ul class="types">
            {items.map(({ id, title: name, description }) => (
              <li key={id}>
                <a href={addressOf(id)}>
                  <strong>{name}</strong>
                  <span class="quiet">{description}</span>
                </a>
              </li>
            ))}
          </ul>
        </>
      ))}
    </>
  )
}

/** The form of one type, or of a kind without types. */
function NewCheck({
  table,
  type,
  untyped = 'referential',
  done,
}: {
  table: Table
  type?: CheckType
  untyped?: UntypedKind
  done: () => void
}) {
  const typed = type && (type.family === 'rule' ? 'validity' : 'metric')
  const kind: CheckKind = typed ?? untyped
  const [query] = useQuery()
  const specs = newSpecs(kind, type, table)
  const names = type && type.column !== 'ignored' ? (type.columns ?? []) : []
  const inAddress = query.getAll('column').filter(column => names.includes(column))
  const columnSpec = {
    ...COLUMNS,
    isRequired: type?.column === 'required',
    ...(inAddress.length > 0 && { initial: JSON.stringify(inAddress) }),
  }
  const hasColumns = type !== undefined && type.column !== 'ignored'
  const all = [...(hasColumns ? [columnSpec] : []), ...listSpecs(specs)]
  const form = useForm(`new check ${table.id} ${type?.type ?? untyped}`, all)
  const [results, setResults] = useState<readonly ColumnResult[]>([])
  const columns = hasColumns ? readColumns(form.values[COLUMNS.name]) : []
  // Several checks of one name could not be told apart.
  const shown = withoutHidden(all, form.values).filter(({ name }) => name !== 'name' || columns.length < 2)
  const fixed = type ? { [kind === 'validity' ? 'rule_type' : 'metric_type']: type.type } : {}

  const [existing, setExisting] = useState<ExistingCheck>()
  const save = async (mayRepeat = false) => {
    let found: ExistingCheck | undefined
    let failed: ColumnResult[] = []
    let outcomes: ColumnResult[] = []
    setResults([])
    const isDone = await form.send(shown, async ({ column_names: _columns, ...body }) => {
      const path =
        kind === 'referential' ? { child_table_path: table.table_path } : { table_path: table.table_path }
      const sent = { ...fixed, ...(typed ? withoutWindow(body, table) : body), ...path }
      if (!typed || columns.length < 2) {
        const one = { ...sent, ...(columns[0] !== undefined && { column_name: columns[0] }) }
        found = await createCheck(kind, table.id, one, mayRepeat)
        return
      }
      outcomes = await createChecks(typed, table.id, { ...sent, column_names: columns })
      failed = outcomes.filter(({ status }) => status === 'failed')
    })
    if (!isDone) return
    if (found) {
      // What was written is needed if it is made nevertheless.
      for (const { name } of shown) form.set(name, form.values[name]!)
      setExisting(found)
      return
    }
    done()
    if (failed.length === 0) {
      notify(
        `${countOf(Math.max(1, columns.length), 'check was', 'checks were')} created. The first run follows in a minute.`,
      )
      changeQuery({ add: null, column: null }, { replace: false })
      return
    }
    // What was written is needed again for those that failed.
    for (const { name } of shown) form.set(name, form.values[name]!)
    form.set(COLUMNS.name, JSON.stringify(failed.map(({ column_name: column }) => column)))
    setResults(outcomes)
  }
  return (
    <>
      <p>
        <strong>{type?.label ?? KINDS[untyped].title}</strong>{' '}
        {type && (
          <>
            <code>{type.type}</code>{' '}
          </>
        )}
        <span class="quiet">{type?.description ?? KINDS[untyped].description}</span>
      </p>
      <p class="actions above">
        <a class="button small" href={addressOf('')}>
          Another type
        </a>
      </p>
      <div class="with-side">
        <div>
          <Form
            form={form}
            submit={() => save()}
            label={columns.length > 1 ? `Create ${columns.length} checks` : 'Create check'}
            busyLabel="Creating…"
          >
            <CheckFields
              form={form}
              specs={{
                ...specs,
                more: specs.more.filter(spec => shown.some(({ name }) => name === spec.name)),
              }}
              table={table}
              columns={hasColumns ? { spec: columnSpec, names } : undefined}
            />
          </Form>
          {results.length > 0 && <Outcomes results={results} />}
          {existing && (
            <ConfirmDialog
              title={tuningTexts.exists}
              action={tuningTexts.createAnyway}
              isHarmless
              work={() => save(true)}
              close={() => setExisting(undefined)}
            >
              <ExistingNote check={existing} />
            </ConfirmDialog>
          )}
        </div>
        <Preview input={previewOf({ kind, table, form, specs: shown, fixed, columns })} />
      </div>
    </>
  )
}

/** What became of each column. */
function Outcomes({ results }: { results: readonly ColumnResult[] }) {
  const created = results.filter(({ status }) => status === 'created').length
  return (
    <section class="outcomes" role="status">
      <h3>{tuningTexts.outcomes(created, results.length)}</h3>
      <ul>
        {results.map(({ column_name: column, error }) => (
          <li key={column}>
            <code>
              <bdi>{column}</bdi>
            </code>{' '}
            <Status status={error === null ? 'ok' : 'failed'} word={error ?? 'created'} />
          </li>
        ))}
      </ul>
      <p class="quiet">The columns that failed are still chosen above.</p>
    </section>
  )
}
