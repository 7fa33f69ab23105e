/** YAML of local files as the tools read it that the files are written for. */
import { parseYaml, YamlParseError, type ParsedYaml, type YamlDialect } from '../../../server/yaml.ts'
import { PYTHON_SCALARS, RUAMEL_SCALARS } from './python-scalars.ts'

/** dbt reads its files with PyYAML, which takes the last one of equal keys. */
const DBT: YamlDialect = { scalars: PYTHON_SCALARS, hasMergeKeys: true, takesLastKey: true }
/** Soda reads its files with ruamel.yaml: YAML 1.2 with merge keys, and equal keys are refused. */
const SODA: YamlDialect = { scalars: RUAMEL_SCALARS, hasMergeKeys: true, takesLastKey: false }

/** @throws YamlParseError for what dbt cannot read either */
export const parseDbtYaml = (text: string): ParsedYaml => parseLocal(text, 'dbt properties file', DBT)

/** @throws YamlParseError for what Soda cannot read either */
export const parseSodaYaml = (text: string): ParsedYaml => parseLocal(text, 'Soda file', SODA)

/** Each takes a parse of the whole text. */
const MAX_CONTINUATIONS = 500
const CONTINUATION = /Missing closing ['"]quote|must be sufficiently indented/
/** More than the indent of any object around it. */
const INDENT = ' '.repeat(200)

/**
 * Both tools let a quoted text or a list in brackets go on at the start of a line, where YAML 1.2 wants an indent. Blanks are
 * put there, which are no part of the value.
 */
function parseLocal(text: string, what: string, dialect: YamlDialect): ParsedYaml {
  const parse = (given: string) => parseYaml(given, { what, isLocal: true, dialect })
  let first: unknown
  const lines = text.split('\n')
  const moved = new Set<number>()
  for (;;)
    try {
      return parse(lines.join('\n'))
    } catch (error) {
      first ??= error
      const index = error instanceof YamlParseError ? continuationOf(error, lines) : null
      const line = index === null ? undefined : lines[index]
      if (index === null || line === undefined || moved.has(index) || moved.size >= MAX_CONTINUATIONS)
        throw first
      // A marker ends the document also within a text.
      if (/^(---|\.\.\.)(\s|$)/.test(line)) throw first
      moved.add(index)
      lines[index] = INDENT + line.trimStart()
    }
}

/** The index of the line that goes on without an indent. */
function continuationOf({ failures: [failure] }: YamlParseError, lines: readonly string[]): number | null {
  if (!failure || failure.line === null || failure.column === null || !CONTINUATION.test(failure.message))
    return null
  const index = failure.line - 1
  // The end of the text before it is reported in some cases.
  return failure.column > (lines[index]?.replace(/\r$/, '').length ?? 0) ? index + 1 : index
}
