import Joi from 'joi'
import { serverFields, type SslMode } from '../server-config.ts'

/** A `connection_config` as validated. */
export interface PostgresqlConfig {
  host: string
  port: number
  database: string
  username: string
  password: string
  sslmode: SslMode
  ssl_ca?: string
}

/** The schema of a `connection_config`, for engines that speak this protocol, with their own defaults. */
export function makePostgresqlConfig({
  port,
  sslmode,
  longestName,
}: {
  port: number
  sslmode: SslMode
  /** Bytes of a name; the server would cut a longer one off without a word. */
  longestName: number
}): Joi.ObjectSchema<PostgresqlConfig> {
  return Joi.object<PostgresqlConfig>({
    host: serverFields.host,
    port: serverFields.port.default(port).description(`Defaults to ${port}.`),
    database: serverFields.signInText
      .max(longestName, 'utf8')
      .required()
      .description('Name of the database.'),
    username: serverFields.signInText
      .max(longestName, 'utf8')
      .required()
      .description('A role with only SELECT.'),
    password: serverFields.password,
    sslmode: serverFields.sslMode.default(sslmode).description(`As libpq's; defaults to ${sslmode}.`),
    ssl_ca: serverFields.sslCa,
  }).rename('user', 'username')
}
