import Joi from 'joi'

/** A `connection_config` as validated: with `private_key` or with `password`. */
export interface SnowflakeConfig {
  account: string
  warehouse: string
  database: string
  schema?: string
  role?: string
  username: string
  password?: string
  private_key?: string
  private_key_passphrase?: string
}

const ACCOUNT = /^[a-z0-9][a-z0-9_-]*(\.[a-z0-9][a-z0-9-]*){0,3}$/i
const DOMAIN = /\.snowflakecomputing\.(com|cn)$/i

const name = () => Joi.string().max(255)

/** `connection_config`; one of `private_key` and `password`. */
export const snowflakeConfig: Joi.ObjectSchema<SnowflakeConfig> = Joi.object<SnowflakeConfig>({
  account: Joi.string()
    .max(200)
    .required()
    .custom((text: string, { error }) =>
      ACCOUNT.test(text) && !DOMAIN.test(text) ? text : error('account.form'),
    )
    .messages({
      'account.form':
        'account must be the account identifier, such as myorg-account1 or xy12345.eu-central-1, not a URL',
    })
    // The host is made of it.
    .meta({ address: true })
    .description(
      'Account identifier: organization-account, or the locator with its region and cloud (xy12345.us-east-2.aws).',
    ),
  warehouse: name()
    .required()
    .description(
      'Warehouse that computes, in the case that SHOW WAREHOUSES prints; an extra-small one will do.',
    ),
  database: name().required().description('Name of the database, in the case that SHOW DATABASES prints.'),
  schema: name().description(
    'Limits discovery to one schema, in the case that SHOW SCHEMAS prints; defaults to all.',
  ),
  role: name().description(
    'Role to take, in the case that SHOW ROLES prints; by default that of the user. Give it USAGE on the ' +
      'warehouse, the database and its schemas, and SELECT on the tables, nothing else: Snowflake has no read-only sessions.',
  ),
  username: name().required().description('Name of the user, best one of TYPE = SERVICE.'),
  password: Joi.string()
    .max(4096)
    .meta({ secret: true })
    .description(
      'A programmatic access token of the user, which Snowflake takes in place of passwords; the passwords of people ' +
        'are not taken. Its own user and role restriction apply.',
    ),
  private_key: Joi.string()
    .max(20_000)
    .pattern(/-----BEGIN (ENCRYPTED |RSA )?PRIVATE KEY-----/, 'private key')
    .messages({
      'string.pattern.name': 'private_key must hold a private key in PEM form (-----BEGIN PRIVATE KEY-----)',
    })
    .meta({ secret: true })
    .description(
      'RSA private key in PEM form (PKCS#8) whose public key is the RSA_PUBLIC_KEY of the user; preferred over password.',
    ),
  private_key_passphrase: Joi.string()
    .max(1024)
    .meta({ secret: true })
    .description('Passphrase of the private key, when it is encrypted.'),
})
  .xor('private_key', 'password')
  .with('private_key_passphrase', 'private_key')
  .messages({
    'object.missing':
      'private_key is missing: give the private key of the user, or as password an access token',
    'object.xor': 'private_key and password exclude each other: give one of them',
  })

/**
 * The host of an account: underscores become hyphens, which host names need
 * (https://docs.snowflake.com/en/user-guide/admin-account-identifier); regions of China have a domain of their own.
 */
export function accountHost(account: string): string {
  const domain = /\.cn-/i.test(account) ? 'cn' : 'com'
  return `${account.toLowerCase().replaceAll('_', '-')}.snowflakecomputing.${domain}`
}
