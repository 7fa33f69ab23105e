/** Whether a table is known to be fine, and what is not watched. */
import type { Table } from '../models.ts'

/** How a part of a table does that checks watch; null where no active check watches it. */
export type WatchedState = 'passing' | 'failing' | 'error' | 'pending' | 'learning'

/** What the checks of a table watch, as the feature of checks counts it. */
export interface WatchedParts {
  freshness: WatchedState | null
  volume: WatchedState | null
  /** By the column that must not repeat a value. */
  uniques: Record<string, WatchedState>
}

/** What features say of a table that its health is made of. */
export interface JudgedFields {
  quality?: { passing: number; learning: number; failing: number; error: number; pending: number }
  freshness?: { status: 'fresh' | 'stale' | 'unknown'; learning: { seen: number; needed: number } | null }
  watched?: WatchedParts
}

/** What a table's health is called by. */
export interface TableHealth {
  /** Fine only where freshness, volume and keys are watched and all checks pass. */
  status: 'fine' | 'failing' | 'unknown'
  /** One sentence without a full stop. */
  headline: string
  watched: {
    freshness: WatchedState | 'not_watched'
    volume: WatchedState | 'not_watched'
    /** `enforced` by the engine; null without a key of one column. */
    keys: WatchedState | 'not_watched' | 'enforced' | null
  }
}

/** Whether the tables of a source are known to be fine. */
export interface SourceHealth {
  status: TableHealth['status']
  /** One sentence without a full stop. */
  headline: string
  /** All tables, and those whose freshness and volume active checks watch. */
  watched: { tables: number; freshness: number; volume: number }
}

const NO_CHECKS = { passing: 0, learning: 0, failing: 0, error: 0, pending: 0 }
const UNWATCHED: WatchedParts = { freshness: null, volume: null, uniques: {} }

/**
 * Judges what is known of a table. Green means known: a part that is not watched, or has no result yet, makes it unknown.
 * @param enforcesKeys whether the engine rejects rows that repeat a key
 */
export function judgeTableHealth(
  { constraints, kind }: Pick<Table, 'constraints' | 'kind'>,
  { quality = NO_CHECKS, freshness, watched: parts = UNWATCHED }: JudgedFields,
  enforcesKeys: boolean,
): TableHealth {
  const key = constraints.find(({ type, columns }) => type === 'primary_key' && columns.length === 1)
  const unchecked = enforcesKeys && kind === 'table' ? 'enforced' : 'not_watched'
  const watched: TableHealth['watched'] = {
    freshness: freshnessState(parts, freshness),
    volume: parts.volume ?? 'not_watched',
    keys: key ? (parts.uniques[key.columns[0]!] ?? unchecked) : null,
  }
  const states = Object.values(watched)
  const isFailing = quality.failing + quality.error > 0 || states.some(isBad)
  const isKnown = quality.pending + quality.learning === 0 && !states.some(isUnknown)
  return {
    status: isFailing ? 'failing' : isKnown ? 'fine' : 'unknown',
    headline: [describeChecks(quality), ...describeParts(watched, freshness)].join('; '),
    watched,
  }
}

const isUnknown = (state: string | null) =>
  state === 'pending' || state === 'learning' || state === 'not_watched'

const isBad = (state: string | null) => state === 'failing' || state === 'error'

/** A verdict that has lapsed is none. */
function freshnessState({ freshness: state }: WatchedParts, shown: JudgedFields['freshness']) {
  if (state === null) return 'not_watched'
  if (shown?.learning) return 'learning'
  return state === 'passing' && shown?.status !== 'fresh' ? 'pending' : state
}

function describeChecks({ passing, learning, failing, error, pending }: typeof NO_CHECKS): string {
  const parts = [
    failing > 0 && `${failing} fail`,
    error > 0 && `${error} could not run`,
    passing > 0 &&
      (failing + error + learning + pending === 0
        ? `${passing} ${passing === 1 ? 'check passes' : 'checks pass'}`
        : `${passing} pass`),
    learning > 0 && `${learning} learning`,
    pending > 0 && `${pending} not yet run`,
  ].filter(part => part !== false)
  return parts.length === 0 ? 'no check watches it' : parts.join(', ')
}

function describeParts(watched: TableHealth['watched'], freshness: JudgedFields['freshness']): string[] {
  const unwatched = Object.entries(watched).flatMap(([part, state]) =>
    state === 'not_watched' ? [part] : [],
  )
  const learning = freshness?.learning
  return [
    ...(watched.freshness === 'failing' ? ['its data is stale'] : []),
    ...(watched.freshness === 'error' ? ['its freshness could not be checked'] : []),
    ...(watched.freshness === 'pending' ? ['its freshness is not known yet'] : []),
    ...(watched.freshness === 'learning' && learning
      ? [`freshness is learning, ${learning.seen} of ${learning.needed} updates`]
      : []),
    ...(unwatched.length > 0 ? [`${listWords(unwatched)} ${areWords(unwatched)} not watched`] : []),
  ]
}

function listWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

function areWords(words: readonly string[]): string {
  return words.length > 1 || words[0] === 'keys' ? 'are' : 'is'
}
