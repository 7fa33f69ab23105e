/**
 * Soda's checks as monitors: SodaCL of Soda Core 3 (https://docs.soda.io/soda-v3/soda-cl-overview) and the contracts of
 * Soda Core 4 (https://docs.soda.io/reference/contract-language-reference).
 */
import { fieldsOfFile, readFiles, type Construct, type ImportDraft, type ImportFile } from './import-draft.ts'
import { convertSodaCheck } from './soda-checks.ts'
import {
  readConfigurations,
  readRows,
  readSodaTable,
  type RowsOfPart,
  type SodaConfigurations,
} from './soda-configurations.ts'
import { importSodaContract, isSodaContract } from './soda-contract.ts'
import type { SqlEngine } from './sql-text.ts'
import { parseSodaYaml } from './tool-yaml.ts'
import { isRecord, type Fields } from './values.ts'

export interface SodaOptions {
  engine: SqlEngine
}

/** A table as a file names it. */
const TABLE = String.raw`"[^"]+"|\`[^\`]+\`|[^\s[]+`
const CHECKS = new RegExp(`^checks for (${TABLE})(?:\\s*\\[(.+)\\])?$`)
const FILTERS = new RegExp(`^filter (${TABLE})\\s*\\[(.+)\\]$`)
const CONFIGURATIONS = new RegExp(`^configurations for (${TABLE})$`)

/** Reads all files before the checks, since settings of columns hold for the checks of other files too. */
export function importSoda(files: readonly ImportFile[], draft: ImportDraft, options: SodaOptions): void {
  const sections: Section[] = []
  for (const { name: file, parsed } of readFiles(files, parseSodaYaml, draft)) {
    const lineOf = (path: readonly string[]) => parsed.positionOf(path)?.line ?? null
    const fields = fieldsOfFile(file, parsed, draft)
    if (isSodaContract(fields)) importSodaContract({ file, fields, lineOf }, draft, options)
    else for (const [name, content] of Object.entries(fields)) sections.push({ file, name, content, lineOf })
  }
  const configurations = readConfigurations(
    sections.flatMap(({ file, name, content, lineOf }) => {
      const table = CONFIGURATIONS.exec(name)?.[1]
      return table === undefined ? [] : [{ file, line: lineOf([name]), table, content }]
    }),
    draft,
  )
  const rowsOf = readRows(
    sections.flatMap(({ file, name, content, lineOf }) => {
      const [, table, part] = FILTERS.exec(name) ?? []
      return table === undefined || part === undefined
        ? []
        : [{ file, line: lineOf([name]), table, part, content }]
    }),
    draft,
  )
  for (const section of sections)
    if (!CONFIGURATIONS.test(section.name) && !FILTERS.test(section.name))
      importSection(section, { draft, options, configurations, rowsOf })
}

interface Section {
  file: string
  name: string
  content: unknown
  lineOf: (path: readonly string[]) => number | null
}

interface Target {
  draft: ImportDraft
  options: SodaOptions
  configurations: SodaConfigurations
  rowsOf: RowsOfPart
}

function importSection({ file, name: section, content, lineOf }: Section, target: Target): void {
  const [, own, part] = CHECKS.exec(section) ?? []
  const leave = (reason: string) =>
    target.draft.leave({ file, line: lineOf([section]), name: section }, reason)
  const each = /^for each /.test(section) && isRecord(content) ? content : null
  const names = own === undefined ? namesIn(each ?? {}) : [own]
  const checks = each ? each.checks : content
  const path = each ? [section, 'checks'] : [section]
  const at = (index: number) => lineOf([...path, String(index)])
  const reason =
    own === undefined && !(each && /^for each (dataset|table)/.test(section))
      ? reasonFor(section)
      : names.length === 0
        ? 'it names no table'
        : null
  if (!Array.isArray(checks)) return leave(reason ?? 'it has no list of checks')
  if (reason !== null) {
    for (const [index, check] of checks.entries())
      target.draft.leave({ file, line: at(index), name: `${readCheck(check)[0]} of ${section}` }, reason)
    return
  }
  for (const table of names) importChecks({ table, part }, checks, { file, at }, target)
}

/** Tables that are named one by one; patterns are left, since only the source knows what they match. */
function namesIn(content: Fields): string[] {
  const names = [content.datasets ?? content.tables].flat().filter(name => typeof name === 'string')
  const excluded = names.flatMap(name => /^exclude (.*)$/.exec(name)?.[1] ?? []).map(toPattern)
  return names
    .filter(name => !name.startsWith('exclude '))
    .map(name => name.replace(/^include /, ''))
    .filter(name => !excluded.some(pattern => pattern.test(name)))
}

function toPattern(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[^\w%]/g, String.raw`\$&`).replaceAll('%', '.*')}$`)
}

function reasonFor(section: string): string {
  if (section.startsWith('filter ')) return 'it has no name, by which checks take it'
  if (/^(discover|profile|sample|automated)/.test(section))
    return 'discovery, profiles and recommendations do this'
  if (section.startsWith('for each')) return 'only the source knows of which columns or tables it is'
  return 'no checks of a table'
}

function importChecks(
  { table: name, part }: { table: string; part: string | undefined },
  checks: readonly unknown[],
  { file, at }: { file: string; at: (index: number) => Construct['line'] },
  { draft, options, configurations, rowsOf }: Target,
): void {
  const table = readSodaTable(name)
  for (const [index, check] of checks.entries()) {
    const [text, config] = readCheck(check)
    const construct = { file, line: at(index), name: `${text} for ${table}` }
    if (/[%*]/.test(table)) draft.leave(construct, 'the name of the table is a pattern')
    else if (table.includes('${')) draft.leave(construct, 'the name of the table is a variable')
    else if (isRecord(check) && Object.keys(check).length > 1)
      draft.leave(construct, 'it has several keys: indent its settings below it')
    else
      draft.convert(construct, () => {
        const rows = part === undefined ? undefined : rowsOf(name, part)
        return convertSodaCheck(text, config, { table, rows, ...options }, configurations)
      })
  }
}

/** A check is a text, or a text with its configuration. */
function readCheck(check: unknown): [text: string, config: Fields] {
  if (!isRecord(check)) return [String(check), {}]
  const [text = '', config] = Object.entries(check)[0] ?? []
  return [text, isRecord(config) ? config : config === null || config === undefined ? {} : { value: config }]
}
