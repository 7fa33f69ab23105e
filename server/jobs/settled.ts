/** Results of jobs that tests wait for. */

export type SettledState = 'completed' | 'failed'

export interface SettledJobs {
  /** Records that a job was completed, or that a try of it has failed. */
  note(queue: string, data: object, state: SettledState): void
  /** Resolves when a job whose data fits has settled, or at once if one has since the last `forget`. */
  wait(queue: string, fits: (data: object) => boolean): Promise<SettledState>
  forget(): void
}

interface Result {
  queue: string
  data: object
  state: SettledState
}

export function recordSettled(): SettledJobs {
  let results: Result[] = []
  let waiting: ((result: Result) => void)[] = []
  return {
    note(queue, data, state) {
      const result = { queue, data: structuredClone(data), state }
      results.push(result)
      for (const notify of waiting) notify(result)
    },
    wait(queue, fits) {
      const isIt = (result: Result) => result.queue === queue && fits(result.data)
      const known = results.find(isIt)
      if (known) return Promise.resolve(known.state)
      return new Promise(resolve => {
        const notify = (result: Result) => {
          if (!isIt(result)) return
          waiting = waiting.filter(other => other !== notify)
          resolve(result.state)
        }
        waiting.push(notify)
      })
    },
    forget() {
      results = []
    },
  }
}
