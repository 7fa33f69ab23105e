/** A file of a request, as the thread that read it returned it. */
import type { TextPosition } from '../../../server/yaml.ts'
import { pathKey, pathOf, type FileEntry, type FileHead } from './read-files.ts'

/** A file of a request, whose form was found good. */
export interface ReadFile {
  name: string
  /** The source that it names. */
  source: string
  entries: readonly FileEntry[]
  /** The default windows that it states. */
  windows: FileHead['windows']
  /** Where the part at a path starts, or its nearest existing owner; null in a document that came as JSON. */
  positionOf(path: readonly string[]): TextPosition | null
}

/** @param entries its checks */
export function toReadFile(
  { name, source, windows, places }: FileHead,
  entries: readonly FileEntry[],
): ReadFile {
  const ofEntries = new Map(entries.map(entry => [pathKey(pathOf(entry)), entry.places]))
  return {
    name,
    source,
    entries,
    windows,
    positionOf(path) {
      const ofEntry = ofEntries.get(pathKey(path.slice(0, ENTRY_DEPTH)))
      return (
        (ofEntry && nearest(ofEntry, path.slice(ENTRY_DEPTH))) ?? nearest(places, path.slice(0, TABLE_DEPTH))
      )
    },
  }
}

/** Steps of the path of a check, and of a table. */
const ENTRY_DEPTH = 5
const TABLE_DEPTH = 2

/** The place of a part, or of its nearest owner. */
function nearest(places: ReadonlyMap<string, TextPosition>, path: readonly string[]): TextPosition | null {
  for (let steps = path.length; steps >= 0; steps -= 1) {
    const place = places.get(pathKey(path.slice(0, steps)))
    if (place) return place
  }
  return null
}
