import type { Logger } from 'pino'
import type { Database } from './database/database.ts'

/** Names of one kind of thing that companies use, and that extensions may have added. */
export interface TypesInUse {
  /** What one is called in the log: `connector`. */
  what: string
  isLoaded(name: string): boolean
  /** A statement whose rows have the names in use, of all companies, as `name`. */
  names: string
}

/**
 * Logs one warning that lists what companies use and no extension provides: without it, an extension that was removed or
 * renamed shows in each of its sources and checks alone. Does not stop the start.
 */
export async function warnOfMissingTypes({
  db,
  pino,
  typesInUse,
}: {
  db: Database
  pino: Logger
  typesInUse: readonly TypesInUse[]
}): Promise<void> {
  const missing: Record<string, string[]> = {}
  try {
    for (const { what, isLoaded, names } of typesInUse) {
      const used = await db.statement<{ name: string }>(names)
      const lacking = used.map(({ name }) => name).filter(name => !isLoaded(name))
      if (lacking.length > 0) missing[what] = [...(missing[what] ?? []), ...lacking].sort()
    }
  } catch (error) {
    pino.warn({ err: error }, 'what companies use of extensions cannot be read')
    return
  }
  const lists = Object.entries(missing).map(([what, names]) => `${what} ${names.join(', ')}`)
  if (lists.length > 0)
    pino.warn(
      { missing },
      `no extension provides ${lists.join('; ')}, which are in use: add it to EXTENSIONS`,
    )
}
