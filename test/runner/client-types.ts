/**
 * Writes what the TypeScript client knows of the API, if a source is newer: `npm run client:types`, which installing,
 * testing and building run.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { GENERATED_FILE, root } from '../helpers/sources.ts'

const FOLDERS = ['server', 'plugins', 'connectors', 'checks', 'plugin-template', 'test/helpers']

// The folders as well: they change when a file is removed.
const sources = FOLDERS.flatMap(folder =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => !name.includes('node_modules') && /(\.ts|^[^.]+)$/.test(name))
    .map(name => join(root, folder, name)),
)
const modifiedAt = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
const writtenAt = modifiedAt(join(root, GENERATED_FILE))

if ([...sources, join(root, 'package.json')].some(path => modifiedAt(path) > writtenAt)) {
  const { writeClientTypes } = await import('../helpers/client-types.ts')
  await writeClientTypes()
}
