/** API keys for benches that ask more often than one key may. */
import { createHash, randomBytes } from 'node:crypto'
import type { Tenant, TestServer } from '../helpers/server.ts'

/** Gives a company so many keys that may read. @returns them */
export async function addKeys(app: TestServer, { companyId }: Tenant, count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, () => `aa_${randomBytes(30).toString('base64url')}`)
  const hashes = keys.map(key => createHash('sha256').update(key).digest())
  await app.query(
    `insert into api_keys (id, company_id, name, key_hash, key_prefix, key_suffix, scope)
     select gen_random_uuid(), $1, 'bench', hash, 'aa_', '0000', 'read-only' from unnest($2::bytea[]) hash`,
    [companyId, hashes],
  )
  return keys
}
