import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** Credentials of the demo company; `sourceId` is missing until the source is complete. */
export interface DemoCredentials {
  email: string
  password: string
  key: string
  companyId: string
  sourceId?: string
}

const credentialsFile = (dataDir: string): string => join(resolve(dataDir), 'demo', 'credentials.json')

/** Null before the first start. */
export async function readCredentials(dataDir: string): Promise<DemoCredentials | null> {
  const text = await readFile(credentialsFile(dataDir), 'utf8').catch(() => null)
  return text === null ? null : (JSON.parse(text) as DemoCredentials)
}

/** Saves the credentials for later starts, readable by the owner of the process only. */
export async function saveCredentials(dataDir: string, credentials: DemoCredentials): Promise<void> {
  const file = credentialsFile(dataDir)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, JSON.stringify(credentials), { mode: 0o600 })
}
