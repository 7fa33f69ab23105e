import { amendError, ConnectorError, errorRule, isInEngineWords, rewordError } from '../errors.ts'
import type { ConnectorErrorKind, ErrorRule } from '../errors.ts'
import { classifyRestError } from '../rest/errors.ts'
import type { SnowflakeConfig } from './config.ts'

/**
 * Snowflake's errors by its own codes, six digits each. Rules without `say` keep its message until a session
 * redacts it.
 */
const RULES: readonly ErrorRule[] = [
  errorRule('credentials', { code: /^3904(20|22)$/ }).say(
    'The network policy of the account or user does not let us in: ask for the address of this service to be allowed.',
  ),
  errorRule('credentials', { code: /^39018[69]$/ }).say(
    'The user may not take this role, or there is none of this name: check role, in its exact case.',
  ),
  errorRule('missing-object', { code: '390201' }).say(
    'There is no such database, schema or warehouse, or the role may not use it: check them, in their exact case.',
  ),
  errorRule('credentials', { code: /^(390[1-3]|3944)\d+$/ }),
  errorRule('missing-object', { code: 'HTTP_404' }).say('There is no such account: check account.'),
  errorRule('credentials', { code: 'HTTP_403' }).say(
    'Snowflake does not let us in: check account, and that its network policy allows the address of this service.',
  ),
  errorRule('other', { code: '000604' }).say(
    'The statement was cancelled in Snowflake: try again, or ask who cancelled it.',
  ),
  errorRule('other', { code: 'INCOMPLETE' }).say(
    'Snowflake gave less of the result than it announced: try again.',
  ),
  errorRule('timeout', { code: /^(000605|00063\d)$/ }).say(
    'The statement ran or waited over its time and was ended: allow more time, check fewer rows or columns at once, or use a larger warehouse.',
  ),
  errorRule('other', { code: '000606' }).say(
    'The role has no warehouse to compute with: check warehouse, and grant the role USAGE on it.',
  ),
  errorRule('other', { code: '090073' }).say(
    'The warehouse cannot be resumed: its resource monitor has used up its quota; raise it, or wait for the next period.',
  ),
  errorRule('other', { code: /^0901/ }),
  errorRule('invalid-query', { code: '090030' }).say(
    "The database's catalog is too large for Snowflake to list at once: set schema, to read one schema only.",
  ),
  errorRule('missing-object', { code: /^(002003|002043)$/ }),
  errorRule('missing-object', { code: '000904', fault: 'column' }),
  errorRule('permission', { code: /^0030\d\d$/ }),
  errorRule('permission', { message: /insufficient privileges/i }),
  errorRule('invalid-query', { code: /^1000(35|40)$/, message: /is not recognized/ }),
  errorRule('invalid-query', { code: '001003', fault: 'syntax' }),
  errorRule('invalid-query', { code: '002140', fault: 'function' }),
  errorRule('invalid-query', { code: '100051', fault: 'division' }),
  errorRule('invalid-query', { code: /^1000(38|39|69|71)$/, fault: 'value' }),
  errorRule('invalid-query', { code: '100048', fault: 'pattern' }),
  // Compilation; values that cannot be read, division by zero, regular expressions; what the API does not take.
  errorRule('invalid-query', { code: /^(00[12]|0009|100|391)\d+$/ }),
  errorRule('invalid-query', { code: '000008' }).say('The text holds more than one statement: give one.'),
  errorRule('network', { code: /^(250|300)\d+$/ }),
]

/** What to do, added to what is wrong. */
const ADVICE: Partial<Record<ConnectorErrorKind, string>> = {
  permission: 'grant the role USAGE on the database and schema and SELECT on the table',
  'missing-object':
    'run a discovery if it was renamed or dropped, else grant the role USAGE on its database and schema and SELECT on it',
}

const KEY_REFUSED =
  'Snowflake does not take the key: check account and username, that RSA_PUBLIC_KEY_FP of DESCRIBE USER belongs to private_key, and the clock of this machine'
const TOKEN_REFUSED =
  'password is no programmatic access token that Snowflake takes, or has expired: make a new one for the user (which needs a network policy), or use a key pair'

/** Classifies what a request threw, for a configuration that signs in with a key or with a token. */
export function makeSnowflakeClassifier(config: Pick<SnowflakeConfig, 'private_key'>) {
  return (thrown: unknown): ConnectorError => {
    const error = classifyRestError('snowflake', RULES, thrown)
    if (error === thrown || !isInEngineWords(error)) return error
    if (error.kind === 'credentials')
      return rewordError(error, `${config.private_key === undefined ? TOKEN_REFUSED : KEY_REFUSED}.`)
    const advice = ADVICE[error.kind]
    return advice ? amendError(error, { advice }) : error
  }
}

/** The private key cannot be used; the message says what to do. */
export function unusableKeyError(message: string): ConnectorError {
  return new ConnectorError({ kind: 'credentials', engine: 'snowflake', code: 'PRIVATE_KEY', message })
}
