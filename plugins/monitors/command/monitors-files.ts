/** Monitors files of a machine, for commands. */
import { readdir, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { CommandError, EXIT } from '../../../server/cli/command.ts'
import { readTextFile } from '../../../server/cli/text-file.ts'
import { MonitorsFileError, readMonitors, type FileFault } from '../file/monitors-file.ts'

/** A file as it is sent. */
export interface SentFile {
  name: string
  content: string
}

const IS_MONITORS_FILE = /\.(ya?ml|json)$/i

/**
 * Reads files, and those of folders and what is below them, by source.
 * @throws MonitorsFileError with the mistakes of all files, CommandError for what cannot be read
 */
export async function readMonitorsFiles(paths: readonly string[]): Promise<Map<string, SentFile[]>> {
  const names = [...new Set((await Promise.all(paths.map(listFiles))).flat())].sort()
  if (names.length === 0)
    throw new CommandError(`There is no .yaml, .yml or .json file in ${paths.join(', ')}`, EXIT.usage)
  const faults: FileFault[] = []
  const bySource = new Map<string, SentFile[]>()
  for (const name of names) {
    const content = await readTextFile(name)
    try {
      const { source } = readMonitors(content, name).document
      bySource.set(source, [...(bySource.get(source) ?? []), { name, content }])
    } catch (error) {
      if (!(error instanceof MonitorsFileError)) throw error
      faults.push(...error.faults)
    }
  }
  if (faults.length > 0) throw new MonitorsFileError(faults)
  return bySource
}

async function listFiles(path: string): Promise<string[]> {
  const stats = await stat(path).catch(() => undefined)
  if (!stats) throw new CommandError(`${path} is not there`, EXIT.usage)
  if (!stats.isDirectory()) return [nameOf(path)]
  const all = await readdir(path, { recursive: true, withFileTypes: true })
  return all
    .filter(entry => entry.isFile() && IS_MONITORS_FILE.test(entry.name))
    .map(entry => nameOf(join(entry.parentPath, entry.name)))
}

/** The path from here, the same on each system: it is stored with the checks. */
function nameOf(path: string): string {
  const from = relative('', path) || path
  return (from.startsWith('..') ? path : from).split(sep).join('/')
}
