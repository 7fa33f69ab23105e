import { countOf, inWords } from '../../lib/format.ts'
import { Shape, type Tone } from '../../parts/status.tsx'
import { lineageTexts } from './texts.ts'
import type { Node } from './graph.ts'

/** How a node is, as a shape and in words; the worst comes first. */
export interface NodeHealth {
  tone: Tone
  words: readonly string[]
}

/** What is known of the health of a node; what is outside the catalog has none. */
export function describeHealth(node: Node): NodeHealth {
  const { health } = node
  if (node.is_external) return { tone: 'unknown', words: [inWords(node.asset_type)] }
  if (!node.is_active) return { tone: 'critical', words: ['gone from its source'] }
  if (!health) return { tone: 'unknown', words: [lineageTexts.notWatched] }
  const { quality_status: quality, freshness_status: freshness, schema_change_status: drift } = health
  const critical = [
    freshness === 'stale' && lineageTexts.stale,
    quality === 'failing' && 'failing checks',
    quality === 'error' && 'checks in error',
    drift === 'high' && lineageTexts.changed,
  ]
  const warnings = [
    drift !== 'none' && drift !== 'high' && lineageTexts.changed,
    health.open_alerts > 0 && countOf(health.open_alerts, 'open alert'),
  ]
  const words = [...critical, ...warnings].filter(word => word !== false)
  if (critical.some(Boolean)) return { tone: 'critical', words }
  if (words.length > 0) return { tone: 'warning', words }
  return quality === 'passing' || freshness === 'fresh'
    ? { tone: 'ok', words: ['ok'] }
    : { tone: 'unknown', words: [lineageTexts.notWatched] }
}

/** The health of a table as a shape and words. */
export function NodeStatus({ node }: { node: Node }) {
  const { tone, words } = describeHealth(node)
  return (
    <span class="severity">
      <Shape tone={tone} />
      {words.join(', ')}
    </span>
  )
}

/** Whether something is wrong with a node. */
export const hasProblem = (node: Node): boolean => ['critical', 'warning'].includes(describeHealth(node).tone)
