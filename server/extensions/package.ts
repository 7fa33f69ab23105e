import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import semver from 'semver'
import { API_VERSION } from '../../connectors/api-version.ts'
import { packageRoot } from '../settings/config.ts'
import { version } from '../version.ts'

/** The part of a package.json that is read. */
export interface ExtensionPackage {
  name?: string
  version?: string
  peerDependencies?: Record<string, string>
}

/**
 * The package.json of the package that a module is in; null for a module without one, such as a single file.
 * @param url of the module
 */
export function packageOf(url: string): ExtensionPackage | null {
  if (!url.startsWith('file:')) return null
  // A file among ours, or above us, belongs to no package of its own.
  for (let folder = dirname(fileURLToPath(url)); !isAbove(folder); folder = dirname(folder)) {
    const path = join(folder, 'package.json')
    if (existsSync(path)) return readPackage(path)
    if (folder === dirname(folder)) return null
  }
  return null
}

const isAbove = (folder: string): boolean => packageRoot === folder || packageRoot.startsWith(folder + sep)

function readPackage(path: string): ExtensionPackage | null {
  try {
    const found = JSON.parse(readFileSync(path, 'utf8')) as unknown
    return typeof found === 'object' && found !== null ? found : null
  } catch {
    return null
  }
}

/**
 * Why an extension does not fit this version, by `peerDependencies` of its package.json; null if it fits, or does not say.
 * npm checks the same, but only where it installs both.
 */
export function describeMisfit({ peerDependencies }: ExtensionPackage, own = version): string | null {
  const range = peerDependencies?.tidemark
  if (range === undefined) return null
  if (semver.validRange(range) === null)
    return `states tidemark "${String(range)}" in peerDependencies of its package.json, which is no range of versions: write "^${own}"`
  if (semver.satisfies(own, range, { includePrerelease: true })) return null
  return `needs tidemark ${range} (peerDependencies of its package.json), and this is ${own} with the plugin API ${API_VERSION}: install a version of it that was made for this one, or change the range once its tests pass`
}
