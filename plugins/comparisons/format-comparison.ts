/** The result of a comparison as the command line prints it. */
import { alignCells, oneLine, withoutControls } from '../../server/cli/terminal-text.ts'
import { html } from '../../server/markup.ts'

/** What the dry run of a comparison replies, as far as it is printed; unknown fields pass through. */
export interface PrintedComparison {
  status: 'pass' | 'fail' | 'error'
  /** Null when status is `error`. */
  message: string | null
  error_message: string | null
  differing_rows: number | null
  samples: {
    key: Record<string, string>
    kind: 'only_left' | 'only_right' | 'differs'
    values: { column: string; left: string | null; right: string | null }[]
  }[]
  differing_aggregates: {
    group: Record<string, string | null>
    column: string | null
    measure: string
    left: string | null
    right: string | null
  }[]
  warnings: string[]
}

/** One line that says what was found, and a table of what differs. @param left, right the tables as the caller named them */
export function formatComparison(left: string, right: string, found: PrintedComparison): string[] {
  const { samples, differing_aggregates: aggregates } = found
  const cells =
    samples.length > 0
      ? [['key', 'column', left, right], ...samples.flatMap(rowCells)]
      : aggregates.length > 0
        ? [['group', 'aggregate', left, right], ...aggregates.map(aggregateCells)]
        : []
  return [sentenceOf(found), ...alignCells(cells.map(row => row.map(oneLine))), ...describeRest(found)]
}

const sentenceOf = ({ message, error_message: error }: PrintedComparison) =>
  oneLine(message ?? `error: ${error ?? 'the comparison could not run'}`)

/** Rows are counted whole, while samples end at a hundred. */
function describeRest({ samples, differing_rows: all }: PrintedComparison): string[] {
  const left = samples.length === 0 ? 0 : (all ?? 0) - samples.length
  return left > 0 ? [`… and ${left.toLocaleString('en')} more`] : []
}

function rowCells({ key, kind, values }: PrintedComparison['samples'][number]): string[][] {
  const name = Object.values(key).join(', ')
  if (kind !== 'differs')
    return [[name, '', ...(kind === 'only_left' ? ['present', 'missing'] : ['missing', 'present'])]]
  return values.map(({ column, left, right }) => [name, column, left ?? 'NULL', right ?? 'NULL'])
}

function aggregateCells(item: PrintedComparison['differing_aggregates'][number]): string[] {
  const { group, column, measure, left, right } = item
  const named = Object.entries(group).map(([name, value]) => `${name} = ${value ?? 'NULL'}`)
  const aggregate = column === null ? measure : `${measure} of ${column}`
  return [named.join(', '), aggregate, left ?? 'NULL', right ?? 'NULL']
}

/** A report in the form of JUnit, of one test case. */
export function formatJunit(left: string, right: string, found: PrintedComparison): string[] {
  const { status } = found
  const [sentence = '', ...rest] = formatComparison(left, right, found).map(withoutControls)
  const details = rest.join('\n')
  const outcome = {
    pass: html``,
    fail: html`<failure message="${sentence}">${details}</failure>`,
    error: html`<error message="${sentence}"></error>`,
  }[status]
  const [failures, errors] = [status === 'fail' ? 1 : 0, status === 'error' ? 1 : 0]
  const suite = html`<testsuite name="tidemark compare" tests="1" failures="${failures}" errors="${errors}">
    <testcase classname="tidemark.compare" name="${left} and ${right}">${outcome}</testcase>
  </testsuite>`
  return ['<?xml version="1.0" encoding="UTF-8"?>', ...suite.text.split('\n')]
}
