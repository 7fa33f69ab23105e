import { randomUUID } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** A file needs its own process when it starts many, blocks the event loop, measures its process, or plans its root test. */
const ALONE =
  /fork\(|spawn\(|spawnSync|server-process|process\.(exit|on|env\.\w+ *=)|cpuUsage|memoryUsage|t\.(plan|bailout)\(|new Worker|startTestCluster|mock(Import|Require|All)?\(/

/** Divides test files, relative to the root, into those that need a process each and those that can share one. */
export function divideFiles(root: string, files: readonly string[]): { alone: string[]; shared: string[] } {
  const needsOwn = (file: string) => ALONE.test(readFileSync(join(root, file), 'utf8'))
  return { alone: files.filter(needsOwn), shared: files.filter(file => !needsOwn(file)) }
}

/**
 * Files that several processes take one at a time, so that all end at about the same time. A folder holds the list, and
 * an empty file for each that was taken, named after its place in the list, which only one process can create.
 */
export class FileQueue {
  readonly folder: string

  /** @param folder of a queue that `create` has made */
  constructor(folder: string) {
    this.folder = folder
  }

  /** @param deadline in milliseconds since 1970, after which no file is taken */
  static create(folder: string, files: readonly string[], deadline: number | null): FileQueue {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'files.json'), JSON.stringify({ files, deadline }))
    return new FileQueue(folder)
  }

  /** Makes the main file of a process. Each has its own, because tap names the folders of a process's fixtures after it. */
  addProcess(): string {
    const main = join(this.folder, `${randomUUID()}.ts`)
    const shared = relative(this.folder, join(import.meta.dirname, 'shared-process.ts'))
    writeFileSync(main, `import ${JSON.stringify(shared)}\n`)
    return main
  }

  /** Takes the files that no other process has, one after another. */
  *take(): Generator<string> {
    const { files, deadline } = this.#read()
    for (const [index, file] of files.entries()) {
      if (deadline !== null && Date.now() > deadline) return
      try {
        closeSync(openSync(join(this.folder, String(index)), 'wx'))
      } catch {
        continue
      }
      yield file
    }
  }

  /** Those that no process has taken. */
  left(): string[] {
    const taken = new Set(readdirSync(this.folder))
    return this.#read().files.filter((_, index) => !taken.has(String(index)))
  }

  #read(): { files: string[]; deadline: number | null } {
    const text = readFileSync(join(this.folder, 'files.json'), 'utf8')
    return JSON.parse(text) as { files: string[]; deadline: number | null }
  }
}
