import { createHash } from 'node:crypto'

/** By what a run that takes a part of the suite chooses it; another seed chooses another part. */
export const SEED = process.env.TEST_SEED || '1'

/** A place in a random order of files or items that is the same for the same seed: hexadecimal digits. */
export function rankOf(what: string, item: string): string {
  return createHash('sha1').update(`${SEED} ${what} ${item}`).digest('hex')
}
