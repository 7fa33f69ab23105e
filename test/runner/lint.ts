/**
 * Lints the files whose verdict may have changed since they last passed: `node test/runner/lint.ts`. A rule that needs
 * types judges a file by the types that it imports too, so ESLint's own cache, which looks at the file alone, could keep
 * a verdict that is no longer true. TypeScript's build information, which `npm run typecheck` brings up to date, names
 * what each file refers to and has a hash of the types that each file declares.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { ESLint } from 'eslint'

/** The parts of `.tap/tsbuildinfo` that are read; ids count from 1. */
interface BuildInfo {
  fileNames: string[]
  /** `signature` is a hash of the file's declarations; where it is missing they are as the whole file. */
  fileInfos: (string | { version: string; signature?: string | false; affectsGlobalScope?: boolean })[]
  fileIdsList: number[][]
  /** Ids of a file and of a list of the files that it refers to. */
  referencedMap: [fileId: number, listId: number][]
}

const root = join(import.meta.dirname, '../..')
const buildInfoFile = join(root, '.tap/tsbuildinfo')
const cacheFile = join(root, '.tap/lint.json')

/** Returns, for each file of the program, a hash of all that its verdict depends on. */
function keysOfFiles(): Map<string, string> {
  const { fileNames, fileInfos, fileIdsList, referencedMap } = JSON.parse(
    readFileSync(buildInfoFile, 'utf8'),
  ) as BuildInfo
  const infos = fileInfos.map(info => (typeof info === 'string' ? { version: info } : info))
  const signatures = infos.map(({ version, signature }) => signature || version)
  const references = new Map(referencedMap.map(([fileId, listId]) => [fileId, fileIdsList[listId - 1]!]))
  const configuration = ['package-lock.json', 'tsconfig.json', '.eslint.config.js'].map(name =>
    readFileSync(join(root, name), 'utf8'),
  )
  // Declarations that reach every file, imported or not: lib, @types and what augments a package.
  const globals = signatures.filter((_, index) => infos[index]!.affectsGlobalScope)
  const shared = hash([...configuration, ...globals])
  const keys = infos.map(({ version }, index) => {
    const reached = new Set([index + 1])
    for (const id of reached) for (const next of references.get(id) ?? []) reached.add(next)
    const types = [...reached].sort((a, b) => a - b).map(id => `${fileNames[id - 1]} ${signatures[id - 1]}`)
    return [join(root, '.tap', fileNames[index]!), hash([shared, version, ...types])] as const
  })
  return new Map(keys)
}

function hash(parts: readonly string[]): string {
  const sum = createHash('sha1')
  for (const part of parts) sum.update(part).update('\0')
  return sum.digest('hex')
}

function readPassed(): Record<string, string> {
  try {
    return JSON.parse(readFileSync(cacheFile, 'utf8')) as Record<string, string>
  } catch {
    return {}
  }
}

const keys = keysOfFiles()
const passed = readPassed()
const isUnchanged = (path: string) => keys.has(path) && passed[relative(root, path)] === keys.get(path)
const eslint = new ESLint({
  cwd: root,
  overrideConfigFile: '.eslint.config.js',
  ignorePatterns: [...keys.keys()].filter(isUnchanged).map(path => relative(root, path)),
})
const results = await eslint.lintFiles(['.'])
console.log((await (await eslint.loadFormatter()).format(results)).trim())
const failed = new Set(results.filter(({ messages }) => messages.length > 0).map(({ filePath }) => filePath))
const entries = [...keys]
  .filter(([path]) => !path.includes('node_modules') && !failed.has(path))
  .map(([path, key]) => [relative(root, path), key])
mkdirSync(join(root, '.tap'), { recursive: true })
writeFileSync(cacheFile, JSON.stringify(Object.fromEntries(entries), null, 2))
process.exitCode = failed.size > 0 ? 1 : 0
