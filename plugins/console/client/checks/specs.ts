import type { CheckType, Table } from 'tidemark/client'
import { readSchema, type FieldSpec, type Values } from '../forms/schema.ts'
import { tuningTexts } from './texts.ts'
import type { CheckKind } from './requests.ts'
import { comparedSpecs, DIFFERENCE_LIMITS, hiddenByLevel } from './comparison-specs.ts'
import { FILTER, LATE_DATA, windowSpecs } from './scope-specs.ts'

/** The fields of a form, in its order; a person may leave those of `more` as they are. */
export interface CheckSpecs {
  /** What is measured; it cannot be changed later. */
  measured: FieldSpec[]
  main: FieldSpec[]
  /** Which bucket of time it is about; empty where it is about all of a table. */
  window: readonly FieldSpec[]
  more: FieldSpec[]
}

const choicesOf = (words: Readonly<Record<string, string>>) => Object.entries(words)

const severity: FieldSpec = {
  name: 'severity',
  label: 'Severity of its alerts',
  kind: 'choice',
  initial: 'warning',
  choices: choicesOf(tuningTexts.severities),
  isRequired: true,
}
const metricSeverity: FieldSpec = {
  name: 'severity',
  label: 'Severity of its alerts',
  hint: 'Without one it follows from how far off a value is.',
  kind: 'choice',
  choices: choicesOf(tuningTexts.severities),
}
const name: FieldSpec = {
  name: 'name',
  label: 'Name',
  kind: 'text',
  maxLength: 200,
  hint: 'Shown in alerts. Defaults to the type and the column.',
}
const description: FieldSpec = {
  name: 'description',
  label: 'Description',
  kind: 'long',
  maxLength: 2_000,
}
const backfill: FieldSpec = {
  name: 'backfill_days',
  label: 'Backfill',
  hint: 'Days of history to learn from now, 1 to 90, computed from the timestamps of the table.',
  kind: 'integer',
  min: 1,
  max: 90,
}
const intervalNamed = (field: string): FieldSpec => ({
  name: field,
  label: 'Runs',
  kind: 'choice',
  initial: 'daily',
  choices: choicesOf(tuningTexts.intervals),
  isRequired: true,
})

const consecutive: FieldSpec = {
  name: 'consecutive',
  label: 'Alert after failures in a row',
  hint: 'From 1 to 10 runs.',
  kind: 'integer',
  initial: '1',
  min: 1,
  max: 10,
}
const direction: FieldSpec = {
  name: 'direction',
  label: 'What counts',
  kind: 'choice',
  choices: choicesOf(tuningTexts.directions),
}

/** The limits of a metric's values, and how they are looked at. */
const limits: readonly FieldSpec[] = [
  { name: 'min', label: 'Lowest value that passes', kind: 'number' },
  { name: 'max', label: 'Highest value that passes', kind: 'number' },
]
const change: FieldSpec = {
  name: 'max_change_percent',
  label: 'Greatest change that passes (%)',
  kind: 'number',
  min: 0,
}
const changeAgainst: FieldSpec = {
  name: 'change_against',
  label: 'Compared with',
  kind: 'choice',
  choices: choicesOf(tuningTexts.changes),
}
const detection: FieldSpec = {
  name: 'detection',
  label: 'It fails when a value',
  hint: 'With a limit, it fails by that alone unless you choose otherwise.',
  kind: 'choice',
  choices: choicesOf(tuningTexts.detections).filter(([choice]) => choice !== 'anomaly'),
}

/** The columns that a check is made for, as a list in JSON: a name may hold whatever a text does. */
export const COLUMNS: FieldSpec = {
  name: 'column_names',
  label: 'Columns',
  hint: 'Each column that you choose gets a check of its own.',
  kind: 'json',
  isRequired: true,
}

const groupBy: FieldSpec = {
  name: 'group_by_columns',
  label: 'Measure each group of',
  hint: 'Up to 3 columns; each combination of their values is a series of its own.',
  kind: 'json',
}

const manual: FieldSpec = {
  name: 'alert_threshold_percent',
  label: 'Threshold (% of invalid rows)',
  hint: 'It fails above this share. 0 allows no invalid row.',
  kind: 'number',
  initial: '0',
  min: 0,
  max: 100,
}
const auto: FieldSpec = {
  name: 'sensitivity',
  label: tuningTexts.sensitivity,
  hint: '1 alerts most often, 4 only about what is far off.',
  kind: 'choice',
  initial: '2',
  choices: choicesOf(tuningTexts.sensitivities),
  isNumeric: true,
  isRequired: true,
}
const hours: FieldSpec = {
  name: 'operating_period_mode',
  label: 'Operating hours',
  hint: 'Busy and quiet hours are learned apart.',
  kind: 'choice',
  initial: 'off',
  choices: choicesOf(tuningTexts.hourModes),
  isRequired: true,
}

type OwnSpecs = Omit<CheckSpecs, 'window'>

/** All fields of a rule, among them those that its mode hides. @param type absent for one that exists */
function ruleSpecs(type: CheckType | undefined): OwnSpecs {
  const nullPolicy: FieldSpec = { name: 'treat_null_as_valid', label: 'Ignore rows with NULL', kind: 'flag' }
  return {
    measured: type ? readSchema(type.settings, 'rule_config') : [],
    main: [
      severity,
      {
        name: 'detection_mode',
        label: 'It fails',
        kind: 'choice',
        initial: 'manual',
        choices: choicesOf(tuningTexts.modes),
        isRequired: true,
      },
      manual,
      auto,
      intervalNamed('check_interval'),
      ...(type?.ignores_null_policy ? [] : [nullPolicy]),
    ],
    more: [
      name,
      description,
      {
        name: 'error_message',
        label: 'Title of its alerts',
        hint: 'In place of the usual one.',
        kind: 'text',
        maxLength: 1_000,
      },
      direction,
      consecutive,
      hours,
      {
        name: 'operating_schedule_id',
        label: 'Operating schedule',
        kind: 'choice',
        isRequired: true,
        choices: [],
      },
      ...(type ? [backfill] : []),
    ],
  }
}

function metricSpecs(type: CheckType | undefined): OwnSpecs {
  return {
    measured: type ? readSchema(type.settings) : [],
    main: [
      {
        name: 'sensitivity',
        label: tuningTexts.sensitivity,
        hint: 'How many standard deviations off a value must be: from 0.1 to 10; 1 alerts most often.',
        kind: 'number',
        initial: '2',
        min: 0.1,
        max: 10,
        isRequired: true,
      },
      ...limits,
      metricSeverity,
      intervalNamed('capture_interval'),
    ],
    more: [
      name,
      change,
      changeAgainst,
      detection,
      direction,
      consecutive,
      ...(type ? [groupBy, backfill] : []),
    ],
  }
}

function referentialSpecs(isNew: boolean): OwnSpecs {
  const limit = (field: string, label: string): FieldSpec => ({ name: field, label, kind: 'integer', min: 0 })
  return {
    measured: isNew
      ? [
          {
            name: 'child_column_name',
            label: 'Column',
            kind: 'choice',
            isRequired: true,
            choices: [],
          },
          {
            name: 'parent_table_path',
            label: 'Other table',
            hint: 'schema.table, of the same source.',
            kind: 'text',
            isRequired: true,
          },
          { name: 'parent_column_name', label: 'Column of the other table', kind: 'text', isRequired: true },
        ]
      : [],
    main: [
      severity,
      {
        ...limit('max_orphan_count', 'Rows without a parent that are allowed'),
        hint: 'Without any limit, none is allowed.',
      },
      {
        name: 'max_orphan_percent',
        label: 'Share of them that is allowed (%)',
        kind: 'number',
        min: 0,
        max: 100,
      },
      intervalNamed('capture_interval'),
    ],
    more: [
      name,
      description,
      limit('min_child_count', 'Rows that every parent must have'),
      limit('max_child_count', 'Rows that a parent may have'),
    ],
  }
}

/** @param table absent for one that exists */
function comparisonSpecs(table: Table | undefined): OwnSpecs {
  return {
    measured: table ? comparedSpecs(table) : [],
    main: [severity, ...DIFFERENCE_LIMITS, intervalNamed('capture_interval')],
    more: [name, description],
  }
}

/** The fields of a new check. @param type absent for the kinds without types */
export function newSpecs(kind: CheckKind, type: CheckType | undefined, table: Table): CheckSpecs {
  const own = ownSpecs(kind, type, table)
  const window = kind === 'referential' ? [] : windowSpecs(table)
  return { ...own, measured: kind === 'comparison' ? own.measured : [...own.measured, FILTER], window }
}

/** The fields of a check that can be changed. @param record the check */
export function editSpecs(kind: CheckKind, record: object): CheckSpecs {
  const own = ownSpecs(kind, undefined, undefined)
  const main = 'level' in record ? withoutHidden(own.main, { level: String(record.level) }) : own.main
  return { ...own, main, window: 'window' in record && record.window !== null ? LATE_DATA : [] }
}

/** @param table that of a new check */
function ownSpecs(kind: CheckKind, type: CheckType | undefined, table: Table | undefined): OwnSpecs {
  if (kind === 'validity') return ruleSpecs(type)
  if (kind === 'comparison') return comparisonSpecs(table)
  return kind === 'metric' ? metricSpecs(type) : referentialSpecs(table !== undefined)
}

/** All fields in the order of the form. */
export function listSpecs({ measured, main, window, more }: CheckSpecs): FieldSpec[] {
  return [...measured, ...main, ...window, ...more]
}

/** Whether the form of a metric has a limit that its values may break. */
export function hasLimit(values: Values): boolean {
  return ['min', 'max', 'max_change_percent'].some(name => String(values[name] ?? '').trim() !== '')
}

/** A metric for its form: how it fails is shown where it was chosen, not where it follows from its limits. */
export function withoutImplied<Record extends object>(record: Record): Record {
  if (!('detection' in record)) return record
  return record.detection === 'both' ? record : { ...record, detection: null }
}

/** The fields that apply to what is chosen in others: the threshold of manual mode, the hours of auto mode. */
export function withoutHidden(specs: readonly FieldSpec[], values: Values): FieldSpec[] {
  if (values.level !== undefined) {
    const others = hiddenByLevel(values)
    return specs.filter(spec => !others.includes(spec.name))
  }
  const mode = values.detection_mode
  if (mode === undefined) {
    const isChange = String(values.max_change_percent ?? '').trim() !== ''
    return specs.filter(
      ({ name }) => (name !== 'change_against' || isChange) && (name !== 'detection' || hasLimit(values)),
    )
  }
  const isAuto = mode === 'auto'
  const hidden = new Set([
    ...(isAuto
      ? ['alert_threshold_percent']
      : ['sensitivity', 'direction', 'operating_period_mode', 'operating_schedule_id', 'backfill_days']),
    ...(values.operating_period_mode === 'schedule' ? [] : ['operating_schedule_id']),
  ])
  return specs.filter(spec => !hidden.has(spec.name))
}
