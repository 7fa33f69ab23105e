import Joi from 'joi'
import { serverFields, type SslMode } from '../server-config.ts'

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

/** `connection_config`; `ssl` defaults to `prefer`, `port` to 3306. */
export const mysqlConfig = Joi.object<MysqlConfig>({
  host: serverFields.host,
  port: serverFields.port.default(3306).description('Defaults to 3306.'),
  database: serverFields.signInText
    .max(64)
    .required()
    .description('Name of the database; others are left out.'),
  username: serverFields.signInText
    .max(128)
    .required()
    .description('An account with only SELECT and SHOW VIEW.'),
  password: serverFields.password,
  ssl: serverFields.sslMode
    .default('prefer')
    .description(
      "As the command line's --ssl-mode (verify-full is its VERIFY_IDENTITY); defaults to prefer.",
    ),
  ssl_ca: serverFields.sslCa,
}).rename('user', 'username')
