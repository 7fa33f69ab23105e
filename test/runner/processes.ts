import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'

/** What a process wrote and used. */
export interface ProcessReport {
  code: number
  /** Standard output and standard error, interleaved as they came. */
  output: string
  /** User and system time of the process and of its children that it waited for; NaN where no shell can measure it. */
  cpuSeconds: number
  isTimedOut: boolean
}

interface ProcessOptions {
  cwd: string
  env: NodeJS.ProcessEnv
  timeoutSeconds: number
  /** Receives each piece of output as it comes. */
  onOutput?(text: string): void
}

const KILL_AFTER_MS = 5_000
/** How long a command's output may stay open after its end, by a process that it left behind. */
const OUTPUT_GRACE_MS = 2_000
/** POSIX `times` is the one portable way to learn the CPU time of a child and of its children. */
const MEASURED = 'trap : ALRM; "$@" 3>&-; code=$?; times >&3; exit $code'
const running = new Set<ChildProcess>()

/** Runs a command to its end. One that exceeds its timeout gets SIGALRM, at which tap prints what is open. */
export function runProcess(command: readonly string[], options: ProcessOptions): Promise<ProcessReport> {
  const { cwd, env, timeoutSeconds, onOutput } = options
  const canMeasure = process.platform !== 'win32'
  const [program, ...args] = canMeasure ? ['/bin/sh', '-c', MEASURED, 'sh', ...command] : command
  const child = spawn(program!, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    // A group of its own, so that a timeout reaches what the command has started.
    detached: canMeasure,
  })
  running.add(child)
  const [output, times] = [[] as string[], [] as string[]]
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output.push(text)
      onOutput?.(text)
    })
  }
  const measured = child.stdio[3] as NodeJS.ReadableStream
  measured.setEncoding('utf8').on('data', (text: string) => times.push(text))
  let isTimedOut = false
  const timer = setTimeout(() => {
    isTimedOut = true
    signalGroup(child, 'SIGALRM')
    setTimeout(() => signalGroup(child, 'SIGKILL'), KILL_AFTER_MS).unref()
  }, timeoutSeconds * 1_000)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', () =>
      setTimeout(() => child.stdio.forEach(stream => stream?.destroy()), OUTPUT_GRACE_MS).unref(),
    )
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      running.delete(child)
      resolve({
        code: code ?? 128 + constants.signals[signal ?? 'SIGTERM'],
        output: output.join(''),
        cpuSeconds: secondsOfChildren(times.join('')),
        isTimedOut,
      })
    })
  })
}

/** Sends a signal to every process that `runProcess` has not finished. */
export function signalRunning(signal: NodeJS.Signals): void {
  for (const child of running) signalGroup(child, signal)
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (process.platform === 'win32') child.kill(signal)
    else process.kill(-child.pid!, signal)
  } catch {
    // It has ended meanwhile.
  }
}

/** Reads the second line of `times`: user and system time of the children, as `1m2.34s 0m5.67s`. */
function secondsOfChildren(times: string): number {
  const found = [...(times.split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)]
  if (found.length !== 2) return NaN
  return found.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0)
}

/** CPU seconds of a running process and of all its children, ended or not; NaN where there is no /proc. */
export function cpuSecondsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // utime, stime, cutime, cstime: fields 14 to 17, in ticks; the name (field 2) may hold spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .filter(Boolean)
    return children.reduce((sum, child) => sum + (cpuSecondsOf(Number(child)) || 0), own)
  } catch {
    return NaN
  }
}

/** USER_HZ of every Linux that Node runs on. */
const TICKS_PER_SECOND = 100
