import Joi from 'joi'

/** MySQL's ssl-mode, from no encryption to a verified chain and host name. */
export type SslMode = 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full'

/** A `connection_config` as validated. */
export interface MysqlConfig {
  host: string
  port: number
  database: string
  username: string
  password: string
  ssl: SslMode
  ssl_ca?: string
}

/** A NUL ends a text of the sign-in packet: what follows would be read as another part of it. */
const signInText = Joi.string()
  .pattern(/^[^\0]*$/, 'text')
  .messages({ 'string.pattern.name': '{{#label}} must not hold a NUL character' })

/** `connection_config`; `ssl` is `prefer` and `port` 3306 unless told. */
export const mysqlConfig = Joi.object<MysqlConfig>({
  host: Joi.string()
    .max(253)
    .pattern(/^[^/\s@]+$/, 'host name')
    .required()
    .messages({ 'string.pattern.name': 'host must be a host name or an address, not a path or URL' })
    .description('Host name or address of the server.'),
  port: Joi.number().integer().min(1).max(65535).default(3306).description('3306 unless told.'),
  database: signInText.max(64).required().description('Name of the database; others are left out.'),
  username: signInText
    .max(128)
    .required()
    .description('An account with only SELECT and SHOW VIEW; `user` is taken as well.'),
  password: Joi.string().allow('').max(1024).default('').meta({ secret: true }).description('Its password.'),
  ssl: Joi.string()
    .valid('disable', 'prefer', 'require', 'verify-ca', 'verify-full')
    .default('prefer')
    .description(
      "As the command line's --ssl-mode (verify-full is its VERIFY_IDENTITY); prefer unless told.",
    ),
  ssl_ca: Joi.string()
    .max(100_000)
    .pattern(/-----BEGIN CERTIFICATE-----/, 'certificate')
    .messages({
      'string.pattern.name': 'ssl_ca must hold a certificate in PEM form (-----BEGIN CERTIFICATE-----)',
    })
    .description('Certificates of the authority, in PEM form; the well-known ones unless told.'),
}).rename('user', 'username')
