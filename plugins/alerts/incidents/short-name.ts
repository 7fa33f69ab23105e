import { parseName } from '../../../connectors/catalog.ts'

/** The name of a table without its source, database and schema; a source keeps its name. */
export function shortName(qualifiedName: string): string {
  return parseName(qualifiedName)?.at(-1) ?? qualifiedName
}
