import Joi from 'joi'
import type { SslMode } from './dial.ts'

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

/** A NUL ends a text of the start-up packet: what follows would be read as a setting, or as another database. */
const startUpText = Joi.string()
  .pattern(/^[^\0]*$/, 'text')
  .messages({ 'string.pattern.name': '{{#label}} must not hold a NUL character' })

/** The schema of a `connection_config`, for engines that speak this protocol, with their own defaults. */
export function serverConfig({
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
    host: Joi.string()
      .max(253)
      .pattern(/^[^/\s@]+$/, 'host name')
      .required()
      .messages({ 'string.pattern.name': 'host must be a host name or an address, not a path or URL' })
      .description('Host name or address of the server.'),
    port: Joi.number().integer().min(1).max(65535).default(port).description(`${port} unless told.`),
    database: startUpText.max(longestName, 'utf8').required().description('Name of the database.'),
    username: startUpText
      .max(longestName, 'utf8')
      .required()
      .description('A role with only SELECT; `user` is taken as well.'),
    password: Joi.string()
      .allow('')
      .max(1024)
      .default('')
      .meta({ secret: true })
      .description('Its password.'),
    sslmode: Joi.string()
      .valid('disable', 'prefer', 'require', 'verify-ca', 'verify-full')
      .default(sslmode)
      .description(`As libpq's; ${sslmode} unless told.`),
    ssl_ca: Joi.string()
      .max(100_000)
      .pattern(/-----BEGIN CERTIFICATE-----/, 'certificate')
      .messages({
        'string.pattern.name': 'ssl_ca must hold a certificate in PEM form (-----BEGIN CERTIFICATE-----)',
      })
      .description('Certificates of the authority, in PEM form; the well-known ones unless told.'),
  }).rename('user', 'username')
}
