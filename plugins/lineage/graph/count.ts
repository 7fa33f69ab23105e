import type { LineageApi } from '../api.ts'
import { walkEdges } from './walk.ts'

/** Far beyond what a person looks at; a walk sends one statement a step. */
const MAX_STEPS = 12

/** Counts what each set of tables leads to, in one walk. */
export const countDownstream: LineageApi['countDownstream'] = async (trx, sets) => {
  const all = [...new Set(sets.flat())]
  if (all.length === 0) return sets.map(() => 0)
  const { edges } = await walkEdges(trx, all, { direction: 'downstream', depth: MAX_STEPS })
  const downstream = Map.groupBy(edges, ({ upstreamId }) => upstreamId)
  return sets.map(set => {
    const seen = new Set(set)
    for (const id of seen) for (const edge of downstream.get(id) ?? []) seen.add(edge.downstreamId)
    return seen.size - new Set(set).size
  })
}
