/** What is kept of the parts of a table, and what a pass reads of them. */
import { createHash } from 'node:crypto'
import type { TablePart } from '../../connectors/connector.ts'

/** A number of a part as the engine gave it, so that long integers and decimals keep their digits. */
export interface KeptNumber {
  value: string | number | null
  /** When it was read, in whole epoch seconds; earlier where it is to be read again sooner. */
  at: number
}

/** What is kept of a part: numbers by their keys, all of the rows that it had at one version. */
export interface PartState {
  version: string
  numbers: Readonly<Record<string, KeptNumber>>
}

/** A part that a pass read, as it is to be kept. */
export interface ReadPart extends PartState {
  name: string
  rows: number | null
  /** Whether what was kept of it is void or was all read again, so that nothing of it stays. */
  isWhole: boolean
  /** How many numbers are not what was kept of the same version. */
  differences: number
}

/** What is known of the parts of a table before a pass. */
export interface KnownParts {
  states: ReadonlyMap<string, PartState>
  now: Date
  /** Numbers that are older are read again and compared, in seconds. */
  rescanSeconds: number
}

/** What a pass read of the parts of a table, and what it knew. */
export interface PartsUse {
  parts: number
  /** Parts of which anything was read. */
  read: number
  /** Rows of the parts that were read, and of those that were known. */
  rowsRead: number
  rowsKnown: number
}

/** Parts of which the same numbers are to be read, so that one statement can. */
export interface PartGroup {
  keys: string[]
  parts: (TablePart & { known: PartState | undefined })[]
}

/** Which numbers are to be read of which parts: those that are not known, or old. Parts of which all is known are left out. */
export function groupUnknown(
  parts: readonly TablePart[],
  keys: readonly string[],
  { states, now, rescanSeconds }: KnownParts,
): PartGroup[] {
  const oldest = now.getTime() / 1_000 - rescanSeconds
  const groups = new Map<string, PartGroup>()
  for (const part of parts) {
    const state = states.get(part.name)
    const known = state?.version === part.version ? state : undefined
    const unknown = keys.filter(key => !((known?.numbers[key]?.at ?? -Infinity) > oldest))
    if (unknown.length === 0) continue
    const together = JSON.stringify(unknown)
    const group = groups.get(together) ?? { keys: unknown, parts: [] }
    group.parts.push({ ...part, known })
    groups.set(together, group)
  }
  return [...groups.values()]
}

/** The most of the time until they are read again by which numbers count as older than they are. */
const MAX_ADVANCE = 0.9

/**
 * When numbers of a part count as read, in epoch seconds. Those that are new count as older, each part by another share of
 * the time until they are read again: all parts are read at once at first, and so are verified some each day, not all in
 * one long pass.
 */
export function readingTime(
  name: string,
  isKnown: boolean,
  { now, rescanSeconds }: Pick<KnownParts, 'now' | 'rescanSeconds'>,
): number {
  const share = createHash('sha256').update(name).digest().readUInt16BE() / 2 ** 16
  const advance = isKnown ? 0 : share * MAX_ADVANCE * rescanSeconds
  return Math.floor(now.getTime() / 1_000 - advance)
}

/** By how much two floats may differ, relative to the larger: engines add them in any order. */
const FLOAT_TOLERANCE = 1e-6

/** Whether a number that was read again is another one than what was kept. Integers and decimals must be equal. */
export function differs(kept: KeptNumber['value'], read: KeptNumber['value']): boolean {
  if (kept === read) return false
  if (kept === null || read === null) return true
  const [one, other] = [Number(kept), Number(read)]
  if (Number.isNaN(one) || Number.isNaN(other)) return String(kept) !== String(read)
  const isExact = [kept, read].every(value => typeof value === 'string' || Number.isSafeInteger(value))
  if (isExact) return one !== other
  return !(Math.abs(one - other) <= FLOAT_TOLERANCE * Math.max(1, Math.abs(one), Math.abs(other)))
}
