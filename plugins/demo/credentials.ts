import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** How to get into the demo company; the source is missing while it is being made. */
export interface Credentials {
  email: string
  password: string
  key: string
  companyId: string
  sourceId?: string
}

function fileOf(dataDir: string): string {
  return join(resolve(dataDir), 'demo', 'credentials.json')
}

/** The credentials of an earlier start; null where there was none. */
export async function keptCredentials(dataDir: string): Promise<Credentials | null> {
  const text = await readFile(fileOf(dataDir), 'utf8').catch(() => null)
  return text === null ? null : (JSON.parse(text) as Credentials)
}

/** Keeps them for later starts, readable by the owner of the process only. */
export async function keepCredentials(dataDir: string, credentials: Credentials): Promise<void> {
  const file = fileOf(dataDir)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, JSON.stringify(credentials), { mode: 0o600 })
}
