import type { Comparison, Metric, Table, ValidityRuleDetail } from 'tidemark/client'
import { Form } from '../forms/fields.tsx'
import { useForm } from '../forms/form.ts'
import { useData } from '../lib/data.ts'
import { inWords } from '../lib/format.ts'
import { changeQuery, withQuery } from '../lib/router.ts'
import { notify } from '../parts/notices.tsx'
import { Loaded } from '../parts/states.tsx'
import { tuningTexts } from './texts.ts'
import { formTexts } from '../forms/texts.ts'
import { texts } from '../texts.ts'
import { CheckFields } from './check-fields.tsx'
import { shortPair } from './comparison-specs.ts'
import { ManagedNote } from './managed-note.tsx'
import { previewOf } from './preview-input.ts'
import { Preview } from './preview.tsx'
import { kindOf, loadCheck, updateCheck } from './requests.ts'
import { editSpecs, listSpecs, withoutHidden, withoutImplied } from './specs.ts'

type Check = Awaited<ReturnType<typeof loadCheck>>

/** Changes how a check judges and when it runs, with a dry run beside it. */
export function EditCheck({ table, id, done }: { table: Table; id: string; done: () => void }) {
  const check = useData(`check ${id}`, signal => loadCheck(table.id, id, signal))
  return (
    <section>
      <p>
        <a href={withQuery(location.pathname, { check: id })}>{tuningTexts.back}</a>
      </p>
      <Loaded of={check} what={texts.check.toLowerCase()} rows={8}>
        {(record: Check) => <ChangeForm table={table} id={id} record={record} done={done} />}
      </Loaded>
    </section>
  )
}

function ChangeForm({
  table,
  id,
  record,
  done,
}: {
  table: Table
  id: string
  record: Check
  done: () => void
}) {
  const kind = kindOf(id)
  const specs = editSpecs(kind, record)
  const all = listSpecs(specs)
  const form = useForm(`check ${id}`, all, withoutImplied(record))
  const shown = withoutHidden(all, form.values)
  const save = async () => {
    const isDone = await form.send(shown, async body => {
      if (Object.keys(body).length > 0) await updateCheck(table.id, id, body)
    })
    if (!isDone) return
    notify(texts.saved)
    done()
    changeQuery({ edit: null, check: id }, { replace: false })
  }
  const fixed = fixedOf(record)
  const { column_name: column } = fixed as { column_name?: string }
  return (
    <>
      <h2>
        {tuningTexts.editTitle('metric_type' in record ? (record.name ?? titleOf(record)) : record.name)}
      </h2>
      <p class="quiet">{tuningTexts.fixed}</p>
      <ManagedNote owner={record.managed_by} />
      <dl class="facts">
        {Object.entries(fixed).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
            </dd>
          </div>
        ))}
      </dl>
      <div class="with-side">
        <Form
          form={form}
          submit={save}
          more={
            form.isChanged && (
              <button type="button" onClick={form.reset}>
                {formTexts.discard}
              </button>
            )
          }
        >
          <CheckFields form={form} specs={specs} table={table} />
        </Form>
        <Preview
          input={previewOf({
            kind,
            table,
            form,
            specs: shown,
            fixed,
            columns: column === undefined ? [] : [column],
            ownId: id,
          })}
        />
      </div>
    </>
  )
}

/** What a check measures, as the body of a new one has it. */
function fixedOf(record: Check): Record<string, unknown> {
  if ('rule_type' in record) {
    const { rule_type, column_name, rule_config, filter, time_column, window } =
      record satisfies ValidityRuleDetail
    return { rule_type, ...withoutNulls({ column_name, rule_config, filter, time_column, window }) }
  }
  if ('metric_type' in record) {
    const { metric_type, column_name, group_by_columns, ...rest } = record
    return {
      metric_type,
      ...withoutNulls({ column_name }),
      ...(group_by_columns.length > 0 && { group_by_columns }),
      ...ownFields(rest),
    }
  }
  if ('right_table_path' in record) return comparedOf(record)
  const { child_column_name, parent_table_path, parent_column_name, filter } = record
  return { child_column_name, parent_table_path, parent_column_name, ...withoutNulls({ filter }) }
}

function comparedOf(record: Comparison): Record<string, unknown> {
  const { right_source, right_table_path, level, key_columns, columns, group_by_columns, ...rest } = record
  const { filter, right_filter, time_column, window } = rest
  return {
    ...{ right_source, right_table_path, level },
    ...(key_columns.length > 0 && { key_columns: key_columns.map(shortPair) }),
    ...(columns && { columns: columns.map(shortPair) }),
    ...(group_by_columns.length > 0 && { group_by_columns: group_by_columns.map(shortPair) }),
    ...withoutNulls({ filter, right_filter, time_column, window }),
  }
}

const COMMON_FIELDS = new Set(
  'id internal_id asset_id asset_public_id table_path name severity capture_interval sensitivity min max max_change_percent change_against detection direction consecutive failing_runs window_delay revisit is_active last_status created_at snapshots managed_by warnings'.split(
    ' ',
  ),
)

/** The fields of the type of a metric, such as the percentile. */
function ownFields(rest: object): Record<string, unknown> {
  return withoutNulls(Object.fromEntries(Object.entries(rest).filter(([name]) => !COMMON_FIELDS.has(name))))
}

function withoutNulls(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null))
}

const titleOf = ({ metric_type: type, column_name: column }: Metric) =>
  column === null ? inWords(type) : `${inWords(type)} of ${column}`
