/** A server as an operator starts it, in a process that can be killed. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packageRoot } from '../../server/settings/config.ts'

/** One server process. */
export interface Member {
  name: string
  pid: number
  /** Where it serves; empty of a worker, which does not. */
  url: string
  /** Whether it has not ended. */
  isAlive(): boolean
  /** Resolves with its exit code when it has ended, or with the name of the signal that ended it. */
  ended: Promise<number | string>
  /** SIGKILL, SIGSTOP, SIGCONT, SIGTERM. */
  signal(signal: NodeJS.Signals): void
  /** Most memory it has had so far, in MiB; 0 where the system does not report it. */
  peak(): number
}

const living = new Set<ChildProcess>()
process.once('exit', () => living.forEach(child => child.kill('SIGKILL')))

/**
 * Starts one and waits until it listens, or works.
 * @param folder takes its log, `<name>.log`
 */
export async function startMember(
  name: string,
  folder: string,
  settings: Record<string, string>,
): Promise<Member> {
  const child = fork(join(packageRoot, 'server/main.ts'), ['start'], {
    env: { ...process.env, PORT: '0', LOG_LEVEL: 'info', DATA_DIR: folder, ...settings },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  living.add(child)
  child.once('exit', () => living.delete(child))
  const logFile = join(folder, `${name}.log`)
  let text = ''
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', (chunk: Buffer) => {
      void appendFile(logFile, chunk)
      const before = text
      text = (before + chunk.toString()).slice(-4_000)
      const [isUp, url = ''] = /Tidemark (?:listens on (\S+)|works jobs)/.exec(text) ?? []
      if (isUp) resolve(url)
    })
  }
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string)
  void ended.then(how => reject(new Error(`${name} ended with ${how} before it listened:\n${text}`)))
  const url = await promise
  let peak = 0
  const readPeak = () => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
    } catch {
      // It has ended, or the system has no such file: what was read before counts.
    }
    return Math.round(peak)
  }
  return {
    name,
    pid: child.pid!,
    url,
    ended,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    signal(signal) {
      readPeak()
      child.kill(signal)
    },
    peak: readPeak,
  }
}
