import Joi from 'joi'

/** From no encryption to a verified chain and host name; the words are libpq's. */
export type SslMode = 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full'

/** Parts of a `connection_config` that servers of any protocol have. */
export const serverFields = {
  host: Joi.string()
    .max(253)
    .pattern(/^[^/\s@]+$/, 'host name')
    .required()
    .messages({ 'string.pattern.name': 'host must be a host name or an address, not a path or URL' })
    .meta({ address: true })
    .description('Host name or address of the server.'),
  port: Joi.number().integer().min(1).max(65535).meta({ address: true }),
  /** A NUL ends a text of the sign-in packet: what follows would be read as a setting, or as another database. */
  signInText: Joi.string()
    .pattern(/^[^\0]*$/, 'text')
    .messages({ 'string.pattern.name': '{{#label}} must not hold a NUL character' }),
  password: Joi.string().allow('').max(1024).default('').meta({ secret: true }).description('Its password.'),
  sslMode: Joi.string().valid('disable', 'prefer', 'require', 'verify-ca', 'verify-full').meta({ tls: true }),
  sslCa: Joi.string()
    .max(100_000)
    .pattern(/-----BEGIN CERTIFICATE-----/, 'certificate')
    .messages({
      'string.pattern.name': 'ssl_ca must hold a certificate in PEM form (-----BEGIN CERTIFICATE-----)',
    })
    // It decides whose certificate counts, and so which server receives the password.
    .meta({ address: true })
    .description('Certificates of the authority, in PEM form; by default those that Node trusts.'),
}
