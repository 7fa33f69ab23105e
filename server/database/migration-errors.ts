/** What keeps a database from being brought up to date, as sentences for the operator. */
import { StartError } from '../process/start-error.ts'

/** How knex says that a migration was applied that this program does not have. */
const NEWER_DATABASE_ERROR = /^The migration directory is corrupt, the following files are missing: (.*)$/

/** The error to end the process with: where the cause is known, one that says what to do. */
export function migrationError(error: unknown, ownerUrl: string): unknown {
  const { code, message } = error as { code?: string; message: string }
  const [, names] = NEWER_DATABASE_ERROR.exec(message) ?? []
  if (names !== undefined)
    return new StartError(
      `A newer version of Tidemark has used this database (it has ${names}): start that version, or restore the backup of before the upgrade`,
      { cause: error },
    )
  if (code !== '42501') return error
  const { username, pathname } = new URL(ownerUrl)
  // Knex's message is the whole statement, then PostgreSQL's message.
  const said = message.split(' - ').at(-1)
  return new StartError(
    `The role ${decodeURIComponent(username)} of DATABASE_URL lacks a right (${said}): it has to own the database ` +
      `(alter database ${decodeURIComponent(pathname.slice(1))} owner to …) and may create roles (alter role … createrole), ` +
      'or APP_DATABASE_URL names the second role',
    { cause: error },
  )
}
