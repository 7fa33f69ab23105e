/** What keeps a database from being brought up to date, as sentences for the operator. */
import { StartError } from '../process/start-error.ts'

/** How knex says that migrations were applied that this program does not have. */
const UNKNOWN_MIGRATIONS_ERROR = /^The migration directory is corrupt, the following files are missing: (.*)$/

/** Where migrations were to run. */
interface MigrationPlace {
  ownerUrl: string
  /** The folder of the embedded PostgreSQL, which is what its operator knows of it. */
  dataDir?: string
  migrations: readonly { name: string }[]
}

/** The error to end the process with: where the cause is known, one that says what to do. */
export function migrationError(error: unknown, place: MigrationPlace): unknown {
  const { code, message } = error as { code?: string; message: string }
  const [, names] = UNKNOWN_MIGRATIONS_ERROR.exec(message) ?? []
  if (names !== undefined) return new StartError(describeUnknown(names, place), { cause: error })
  if (code !== '42501') return error
  const { username, pathname } = new URL(place.ownerUrl)
  // Knex's message is the whole statement, then PostgreSQL's message.
  const said = message.split(' - ').at(-1)
  return new StartError(
    `The role ${decodeURIComponent(username)} of DATABASE_URL lacks a right (${said}): it has to own the database ` +
      `(alter database ${decodeURIComponent(pathname.slice(1))} owner to …) and may create roles (alter role … createrole), ` +
      'or APP_DATABASE_URL names the second role',
    { cause: error },
  )
}

/** Migrations are added at the end, so an unknown name among the known ones was given before the first release. */
function describeUnknown(names: string, { ownerUrl, dataDir, migrations }: MigrationPlace): string {
  const last = migrations.at(-1)?.name ?? ''
  if (names.split(', ').every(name => name > last))
    return `A newer version of Tidemark has used this database (it has ${names}): start that version, or restore the backup of before the upgrade`
  const { pathname, host } = new URL(ownerUrl)
  const [what, remedy] =
    dataDir === undefined
      ? [
          `The database ${decodeURIComponent(pathname.slice(1))} at ${host}`,
          'create an empty database and name it in DATABASE_URL',
        ]
      : [`The folder ${dataDir}`, 'rename it, or name another folder in DATA_DIR, and start again']
  return (
    `${what} is of an earlier, unreleased version of Tidemark, whose tables this version cannot take over, and was left as it is: ` +
    `${remedy}; to keep its checks, export them with the version that made it (tidemark export) and apply the files to the new one`
  )
}
