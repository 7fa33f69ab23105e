/** What an import makes of the files of another tool: checks, and what could not become one, with the reason. */
import { YamlParseError, type ParsedYaml } from '../../../server/yaml.ts'
import type { MonitorsDocument } from '../file/monitors-file.ts'
import type { ImportJudge } from './applicable.ts'
import { isRecord, type Fields } from './values.ts'

/** A file of another tool. */
export interface ImportFile {
  name: string
  text: string
}

/** A construct of another tool, and where it stands. */
export interface Construct {
  file: string
  /** Null where the file has no lines of its own, such as JSON on one line. */
  line: number | null
  /** In words of the other tool: `unique of orders.id`. */
  name: string
}

/** A construct with what is to be said of it. */
export interface Remark extends Construct {
  reason: string
}

export interface ImportResult {
  document: MonitorsDocument
  /** All constructs of the files that were read: those that became checks and those that did not. */
  found: number
  /** Constructs that became checks. */
  converted: number
  /** Converted constructs of which something is to be known. */
  notes: Remark[]
  /** Constructs that did not become checks. */
  left: Remark[]
  /** Files that could not be read: what they hold is not known. */
  unread: Remark[]
}

/** Thrown for a construct that has no exact counterpart; the message says why. */
export class Inconvertible extends Error {
  override readonly name = 'Inconvertible'
}

/** @throws Inconvertible for fields whose meaning is not known here */
export function allowFields(fields: Fields, ...known: string[]): void {
  const other = Object.keys(fields).find(name => !known.includes(name))
  if (other !== undefined) throw new Inconvertible(`${other} has no counterpart here`)
}

/** The kinds that checks of other tools become, in the order in which a file has them. */
const DRAFT_KINDS = ['validity', 'metric', 'referential', 'freshness'] as const
type DraftKind = (typeof DRAFT_KINDS)[number]

/** A check that stands for a construct. */
export interface DraftCheck {
  kind: DraftKind
  /** The table it belongs to, as the file names it. */
  table: string
  /** What the key is made of, after the table. */
  key: readonly (string | undefined)[]
  body: Record<string, unknown>
  /** What is to be known of it. */
  note?: string
  /** A condition on the rows that it is about, in SQL; it becomes the `filter` of the body. */
  filter?: string | undefined
  /** The same check as a SELECT of its own, for a condition that cannot be a `filter`. */
  select?(): DraftCheck
}

/** Collects the checks of an import. */
export interface ImportDraft {
  /**
   * Adds the checks that a construct becomes, all or none; if it cannot become any, it is left with the reason.
   * @returns whether it was converted
   */
  convert(construct: Construct, make: () => readonly DraftCheck[]): boolean
  /** Records a construct that is no check, or none that can be converted. */
  leave(construct: Construct, reason: string): void
  /** Records a file that cannot be read. */
  refuseFile(file: string, reason: string): void
  finish(): ImportResult
}

/**
 * @param source the name of the source in Tidemark
 * @param judge says why an apply would refuse a check or its filter
 */
export function startImport(source: string, judge: ImportJudge): ImportDraft {
  const tables = new Map<string, Map<DraftKind, Record<string, unknown>[]>>()
  const keys = new Set<string>()
  const notes: Remark[] = []
  const left: Remark[] = []
  const unread: Remark[] = []
  let converted = 0

  function add({ kind, table, key, body }: DraftCheck): void {
    const kinds = tables.get(table) ?? new Map<DraftKind, Record<string, unknown>[]>()
    tables.set(table, kinds)
    const entry = { key: chooseKey(keys, [table, ...key]), ...body }
    kinds.set(kind, [...(kinds.get(kind) ?? []), entry])
  }

  return {
    convert(construct, make) {
      try {
        const checks = make().map(check => settleFilter(check, judge))
        const second = checks.find(({ kind, table }) => kind === 'freshness' && tables.get(table)?.has(kind))
        if (second)
          throw new Inconvertible(`${second.table} has a freshness schedule already: a table has one`)
        for (const check of checks) {
          const fault = judge.describeFault(check)
          if (fault !== null) throw new Inconvertible(`an apply would refuse it: ${fault}`)
        }
        checks.forEach(add)
        converted++
        // The checks of two levels have the same filter.
        const reasons = new Set(checks.flatMap(({ note = [] }) => note))
        for (const reason of reasons) notes.push({ ...construct, reason })
        return true
      } catch (error) {
        if (!(error instanceof Inconvertible)) throw error
        left.push({ ...construct, reason: error.message })
        return false
      }
    },
    leave: (construct, reason) => void left.push({ ...construct, reason }),
    refuseFile: (file, reason) => void unread.push({ file, line: null, name: 'the file', reason }),
    finish: () => ({
      document: {
        version: 1,
        source,
        tables: Object.fromEntries(
          Array.from(tables, ([path, kinds]) => [
            path,
            {
              checks: Object.fromEntries(
                DRAFT_KINDS.flatMap(kind => (kinds.has(kind) ? [[kind, kinds.get(kind)!]] : [])),
              ),
            },
          ]),
        ) as MonitorsDocument['tables'],
      },
      found: converted + left.length,
      converted,
      notes,
      left,
      unread,
    }),
  }
}

/** Gives a check its filter, or makes it a SELECT with a note of the reason. @throws Inconvertible where it is neither */
function settleFilter({ filter, select, ...check }: DraftCheck, judge: ImportJudge): DraftCheck {
  if (filter === undefined) return check
  const problem = judge.describeFilterFault(filter)
  if (problem === null) return { ...check, body: { ...check.body, filter } }
  if (!select) throw new Inconvertible(`its condition on rows cannot be a filter: ${problem}`)
  const own = select()
  const reason = `its filter is in a SELECT of its own: ${problem}`
  return { ...own, note: own.note === undefined ? reason : `${own.note}; ${reason}` }
}

/** Parses files. One that cannot be parsed is recorded, and the others are read all the same. */
export function readFiles<Parsed>(
  files: readonly ImportFile[],
  parse: (text: string) => Parsed,
  draft: ImportDraft,
): { name: string; parsed: Parsed }[] {
  return files.flatMap(({ name, text }) => {
    try {
      return [{ name, parsed: parse(text) }]
    } catch (error) {
      if (!(error instanceof YamlParseError) && !(error instanceof SyntaxError)) throw error
      draft.refuseFile(name, error.message)
      return []
    }
  })
}

/**
 * Records what of a YAML text is not read as its author thinks, such as merge keys, and a text that is no object.
 * @returns its fields
 */
export function fieldsOfFile(
  file: string,
  { value, doubts }: Pick<ParsedYaml, 'value' | 'doubts'>,
  draft: ImportDraft,
): Fields {
  for (const { line, message } of doubts) draft.leave({ file, line, name: 'the file' }, message)
  if (isRecord(value)) return value
  draft.leave({ file, line: null, name: 'the file' }, 'it is no object with named parts')
  return {}
}

/** A key made of names, with a number behind it where it is taken. */
function chooseKey(taken: Set<string>, parts: readonly (string | undefined)[]): string {
  const text = parts.filter(part => part !== undefined && part !== '').join('.')
  const clean =
    text
      .replace(/[^A-Za-z0-9_.:/-]+/g, '_')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 190) || 'check'
  let key = clean
  for (let number = 2; taken.has(key); number++) key = `${clean}.${number}`
  taken.add(key)
  return key
}
