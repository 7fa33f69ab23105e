import type { Table } from 'tidemark/client'
import { Fields } from '../forms/fields.tsx'
import type { FormState } from '../forms/form.ts'
import type { FieldSpec } from '../forms/schema.ts'
import { useSources } from '../parts/source-table.tsx'
import { useOtherTable } from './other-table.ts'
import { PairChoice } from './pair-choice.tsx'

const PAIRS = ['key_columns', 'columns', 'group_by_columns']

/** The fields that say what a comparison compares: the other table, and columns in pairs. @param props.specs those that apply */
export function ComparisonFields({
  form,
  specs,
  table,
}: {
  form: FormState
  specs: readonly FieldSpec[]
  table: Table
}) {
  const sources = useSources()
  const { right_source: source, right_table_path: path } = form.values
  const other = useOtherTable(String(source), String(path))
  const names = new Set([table.source, ...(sources.data ?? []).map(({ name }) => name)])
  const more: Record<string, Partial<FieldSpec>> = {
    right_source: { choices: [...names].map(name => [name, name]) },
    right_table_path: { suggestions: other.paths },
  }
  return specs.map(spec =>
    PAIRS.includes(spec.name) ? (
      <PairChoice
        key={spec.name}
        form={form}
        spec={spec}
        left={table.columns ?? []}
        right={other.columns}
        hasRules={spec.name === 'columns'}
      />
    ) : (
      <Fields key={spec.name} form={form} of={[{ ...spec, ...more[spec.name] }]} />
    ),
  )
}
