import { useState } from 'preact/hooks'
import type { JobData } from 'tidemark/client'
import { texts } from '../texts.ts'
import { useAction } from './action.ts'
import { api } from './api.ts'
import { useData } from './data.ts'

/** Milliseconds between two looks at a job that runs. */
const LOOK_MS = 1_000

/** Work that the service does for a request, as `GET /sdk/jobs/{job_id}` shows it. */
export type Job = JobData['data']

const isOver = ({ status }: Job) => status !== 'pending' && status !== 'running'

/**
 * Follows a job until it has ended.
 * @param ended is called once when it has, unless a person cancelled it
 */
export function useJob(
  id: string,
  ended: () => void,
): { job: Job | undefined; isCancelling: boolean; cancel(): void } {
  const [last, setLast] = useState<Job>()
  const asked = useData(
    last ? null : `job ${id}`,
    async signal => {
      const { data } = await api.get('/api/v1/sdk/jobs/{job_id}', { path: { job_id: id }, signal })
      if (isOver(data)) {
        setLast(data)
        ended()
      }
      return data
    },
    { pollMs: LOOK_MS },
  )
  const [isCancelling, cancel] = useAction(texts.cancel, async () => {
    setLast((await api.post('/api/v1/sdk/jobs/{job_id}/cancel', { path: { job_id: id } })).data)
  })
  return { job: last ?? asked.data, isCancelling, cancel }
}
