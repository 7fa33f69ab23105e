import type { Table } from 'tidemark/client'
import type { FieldSpec, Values } from '../forms/schema.ts'
import { comparisonTexts } from './comparison-texts.ts'
import { FILTER } from './scope-specs.ts'

/** The fields that say what a comparison compares. */
export function comparedSpecs(table: Pick<Table, 'source' | 'primary_key'>): FieldSpec[] {
  return [
    {
      name: 'right_source',
      label: 'Other source',
      kind: 'choice',
      initial: table.source,
      choices: [[table.source, table.source]],
      isRequired: true,
    },
    {
      name: 'right_table_path',
      label: 'Other table',
      hint: 'schema.table of that source.',
      kind: 'text',
      isRequired: true,
    },
    {
      name: 'level',
      label: 'What is compared',
      kind: 'choice',
      initial: 'rows',
      choices: Object.entries(comparisonTexts.levels),
      isRequired: true,
    },
    {
      name: 'key_columns',
      label: 'Key',
      hint: 'The columns of which each row has its own values: they say which rows belong together.',
      kind: 'json',
      isRequired: true,
      ...(table.primary_key.length > 0 && { initial: JSON.stringify(table.primary_key) }),
    },
    {
      name: 'columns',
      label: 'Compared columns',
      hint: 'Without a choice, all columns that have the same name in both tables.',
      kind: 'json',
    },
    {
      name: 'group_by_columns',
      label: 'Compare each group of',
      hint: 'Up to 3 columns.',
      kind: 'json',
    },
    FILTER,
    {
      name: 'right_filter',
      label: 'Only rows of the other table where',
      hint: 'A condition in the SQL of its source.',
      kind: 'long',
      rows: 2,
      maxLength: 2_000,
    },
  ]
}

/** How much may differ. */
export const DIFFERENCE_LIMITS: readonly FieldSpec[] = [
  {
    name: 'max_differing_rows',
    label: 'Rows that may differ',
    hint: 'Without any limit, none may.',
    kind: 'integer',
    min: 0,
  },
  {
    name: 'max_differing_percent',
    label: 'Share of rows that may differ (%)',
    kind: 'number',
    min: 0,
    max: 100,
  },
]

/** The fields that do not belong to the level of a comparison. */
export function hiddenByLevel({ level }: Values): string[] {
  if (level === 'rows') return ['group_by_columns']
  return level === 'counts'
    ? ['key_columns', 'columns']
    : ['key_columns', 'max_differing_rows', 'max_differing_percent']
}

/** A column as bodies name it: by its name, or with its name on the right and a rule. */
export type FieldPair = string | ({ left: string; right?: string } & Record<string, unknown>)

/** The pairs that a field holds. */
export function readPairs(value: unknown): FieldPair[] {
  try {
    const found: unknown = JSON.parse(String(value))
    return Array.isArray(found) ? (found as FieldPair[]) : []
  } catch {
    return []
  }
}

export const leftOf = (pair: FieldPair) => (typeof pair === 'string' ? pair : pair.left)

/** A pair as short as it can be: a name alone where both sides have it and it has no rule. */
export function shortPair({ left, right = left, ...rule }: Exclude<FieldPair, string>): FieldPair {
  if (left !== right) return { left, right, ...rule }
  return Object.keys(rule).length === 0 ? left : { left, ...rule }
}

/** A rule of the form: its field in a body, and whether a number belongs to it. */
export interface RuleChoice {
  field: string
  text: string
  /** What the field is set to; absent where a person writes a number. */
  value?: string | boolean
  /** The number at first. */
  number?: string
}

const NUMBER_RULES: readonly RuleChoice[] = [
  { field: 'tolerance', text: 'at most so far apart', number: '0.01' },
  { field: 'relative_tolerance', text: 'at most so large a share apart', number: '0.01' },
  { field: 'round', text: 'rounded to digits', number: '2' },
]
const RULES: Readonly<Record<string, readonly RuleChoice[]>> = {
  integer: NUMBER_RULES,
  decimal: NUMBER_RULES,
  float: NUMBER_RULES,
  text: [
    { field: 'ignore_case', text: 'ignoring case', value: true },
    { field: 'trim', text: 'ignoring blanks around', value: true },
    { field: 'null_is_empty', text: 'NULL is the empty text', value: true },
  ],
  timestamp: [
    { field: 'precision', text: 'to the second', value: 'second' },
    { field: 'precision', text: 'to the millisecond', value: 'millisecond' },
  ],
}

/** The rules that columns of a kind can have beside being equal. */
export const rulesOf = (kind: string): readonly RuleChoice[] => RULES[kind] ?? []
