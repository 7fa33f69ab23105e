import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** An import of a source file. */
export interface SourceImport {
  /** As written: `pg`, `node:fs`, `../sql.ts`. */
  specifier: string
  /** From the root, for files of this repository. */
  target?: string
  /** Written as `import type … from`, which is erased as a whole. */
  isType: boolean
}

/** A source file, for tests that hold how the program is written. */
export interface Source {
  path: string
  text: string
  imports: SourceImport[]
}

export const root = join(import.meta.dirname, '../..')

/** Reads the imports of a file's text. */
export function parseSource(path: string, text: string): Source {
  const found = [
    ...text.matchAll(/^\s*(?:import|export)\b[^'"`;]*?\bfrom\s+['"]([^'"]+)['"]/gm),
    ...text.matchAll(/^\s*import\s+['"]([^'"]+)['"]/gm),
    ...text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g),
    ...text.matchAll(/\brequire\(\s*['"]([^'"]+)['"]/g),
  ]
  const imports = found.map(([statement, specifier = '']): SourceImport => {
    const target = specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : undefined
    return { specifier, ...(target && { target }), isType: /^\s*import\s+type\b/.test(statement) }
  })
  return { path, text, imports }
}

/** A file that a program writes: it is as long, and worded, as what it is written from. */
export const GENERATED_FILE = 'plugins/public/client/operations.ts'

/** Reads the TypeScript files of some folders, sorted by path; defaults to all but the tests. */
export function readSources(
  folders = '{server,connectors,checks,plugins,migrations,plugin-template}/**/*.{ts,tsx}',
): Source[] {
  return globSync(folders, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**', GENERATED_FILE] })
    .map(path => path.replaceAll('\\', '/'))
    .sort()
    .map(path => parseSource(path, readFileSync(join(root, path), 'utf8')))
}
