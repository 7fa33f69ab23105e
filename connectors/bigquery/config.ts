import { createPrivateKey, type KeyObject } from 'node:crypto'
import Joi from 'joi'

/** A `connection_config` as validated. */
export interface BigqueryConfig {
  project_id: string
  /** A service account's key as JSON text, with only what is needed. */
  credentials_json: string
  dataset?: string
  location?: string
  maximum_bytes_billed?: number
}

/** What a service account's key file holds, as far as it is used. */
export interface ServiceAccount {
  type: 'service_account'
  client_email: string
  private_key: string
  private_key_id?: string
}

/** Keys larger than this would hold up the process with every signature. */
const MAX_KEY_BITS = 4096
const MIN_KEY_BITS = 2048

/**
 * `connection_config`. Of `credentials_json` only what signs requests is kept: no address in it is ever asked, so
 * that what a user sends cannot direct a request. Hence no field is marked as an address: requests go to Google alone.
 */
export const bigqueryConfig = Joi.object<BigqueryConfig>({
  project_id: Joi.string()
    .max(100)
    // https://cloud.google.com/resource-manager/docs/creating-managing-projects; older ones belong to a domain.
    .pattern(/^([a-z0-9][a-z0-9.-]*:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$/, 'project id')
    .required()
    .messages({
      'string.pattern.name':
        "project_id must be the project's id, as in my-project-1234: not its name and not its number",
    })
    .description('The id of the project that is read, and billed for it.'),
  credentials_json: Joi.alternatives(Joi.string().max(10_000), Joi.object().unknown())
    .required()
    .custom(readCredentials)
    .meta({ secret: true })
    .messages({
      'alternatives.types': '{{#label}} must be the key of a service account, as JSON',
      'credentials.json': '{{#label}} is no JSON: paste the whole key file of a service account',
      'credentials.type':
        '{{#label}} is no key of a service account: its type must be service_account (IAM, Service accounts, Keys)',
      'credentials.email': '{{#label}} has no client_email: paste the whole key file of a service account',
      'credentials.key':
        '{{#label}} has no private_key that can be read: paste the whole key file, with its line breaks as \\n',
      'credentials.bits':
        '{{#label}} has a private_key that is no RSA key of 2048 to 4096 bits: make a new key',
      'credentials.universe':
        '{{#label}} is of another universe_domain than googleapis.com, which is not supported',
    })
    .description(
      'The key of a service account with BigQuery Job User on the project and BigQuery Data Viewer on what is read: JSON text or an object.',
    ),
  dataset: Joi.string()
    .max(1024)
    .pattern(/^\w+$/, 'dataset')
    .messages({ 'string.pattern.name': 'dataset must be the name of one dataset, without its project' })
    .description('Only this dataset is read, for which rights on it are enough; defaults to all datasets.'),
  location: Joi.string()
    .max(50)
    .pattern(/^[A-Za-z0-9-]+$/, 'location')
    .messages({ 'string.pattern.name': 'location must be one of BigQuery, as in EU or europe-west3' })
    .description(
      'Only datasets of this location are read, and statements run there; defaults to all locations.',
    ),
  maximum_bytes_billed: Joi.number()
    .integer()
    .min(10_485_760)
    .description(
      'A statement that would be billed for more bytes fails without a charge; unlimited by default.',
    ),
})

function readCredentials(given: unknown, { error }: Joi.CustomHelpers): unknown {
  const file = typeof given === 'string' ? parseJson(given) : given
  if (typeof file !== 'object' || file === null) return error('credentials.json')
  const { type, client_email, private_key, private_key_id, universe_domain } = file as Record<string, unknown>
  if (type !== 'service_account') return error('credentials.type')
  if (typeof client_email !== 'string' || !/^[^\s@]{1,200}@[^\s@]{1,200}$/.test(client_email))
    return error('credentials.email')
  if (universe_domain !== undefined && universe_domain !== 'googleapis.com')
    return error('credentials.universe')
  const key = typeof private_key === 'string' ? openKey(private_key) : null
  if (key === null) return error('credentials.key')
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
  if (key.asymmetricKeyType !== 'rsa' || bits < MIN_KEY_BITS || bits > MAX_KEY_BITS)
    return error('credentials.bits')
  const id = typeof private_key_id === 'string' ? { private_key_id } : {}
  return JSON.stringify({ type, client_email, private_key, ...id })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}

/** The key of a PEM text, or null; one that is encrypted cannot be opened here and is null too. */
function openKey(pem: string): KeyObject | null {
  try {
    return createPrivateKey({ key: pem, format: 'pem' })
  } catch {
    return null
  }
}

/** The account of a validated configuration. */
export function readServiceAccount({ credentials_json: text }: BigqueryConfig): ServiceAccount {
  return JSON.parse(text) as ServiceAccount
}
