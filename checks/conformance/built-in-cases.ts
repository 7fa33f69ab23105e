import type { CheckCase } from './case.ts'
import { EDGE_CLASSES, type EdgeMatrix } from './edges.ts'
import { metricCases } from './metric-cases.ts'
import { metricEdges } from './metric-edges.ts'
import { ruleCases } from './rule-cases.ts'
import { ruleEdges } from './rule-edges.ts'

/** The matrix of check types and classes of edge cases; `whyNotApplicable` explains a missing cell. */
export const edgeMatrix: EdgeMatrix = { ...ruleEdges, ...metricEdges }

/** The cases of a row of the matrix, called as their class or `class: name`. */
function rowOf(row: EdgeMatrix[string] = {}): CheckCase[] {
  return EDGE_CLASSES.flatMap(edge =>
    (row[edge] ?? []).map(item => ({ ...item, name: item.name ? `${edge}: ${item.name}` : edge })),
  )
}

const usual: Readonly<Record<string, readonly CheckCase[]>> = { ...ruleCases, ...metricCases }

/** The cases of every built-in check, by type name; every engine must give these numbers. */
export const edgeCases: Readonly<Record<string, readonly CheckCase[]>> = Object.fromEntries(
  Object.keys(edgeMatrix).map(name => [name, [...rowOf(edgeMatrix[name]), ...(usual[name] ?? [])]]),
)
