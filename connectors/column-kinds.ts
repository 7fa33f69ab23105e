import type { ColumnKind } from './catalog.ts'

/** Finds the kind of a type by its name, from an engine's type names by kind; `other` for a name that is not listed. */
export function makeKindLookup(
  names: Partial<Record<ColumnKind, readonly string[]>>,
): (name: string) => ColumnKind {
  const kinds = new Map<string, ColumnKind>()
  for (const [kind, listed] of Object.entries(names) as [ColumnKind, readonly string[]][])
    for (const name of listed) kinds.set(name, kind)
  return name => kinds.get(name) ?? 'other'
}
