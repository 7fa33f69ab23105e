import { createSignal, useSignal } from '../lib/signal.ts'
import { texts } from '../texts.ts'
import { Icon } from './icons.tsx'

interface Notice {
  id: number
  text: string
  isError: boolean
}

const LIFETIME_MS = 8_000
const notices = createSignal<readonly Notice[]>([])
let lastId = 0

/** Shows what was done, or what failed, where the screen itself does not show it. */
export function notify(text: string, { isError = false } = {}): void {
  const id = ++lastId
  notices.set([...notices.value, { id, text, isError }])
  // What failed stays until it was read.
  if (!isError) setTimeout(() => dismiss(id), LIFETIME_MS)
}

/** Shows the outcome of a job that a request has waited for. @param done the sentence for one that went well */
export function notifyOfJob(job: object, done: string): void {
  const { status, error } = job as { status?: string; error?: { message?: string } | string | null }
  if (status === 'completed') notify(done)
  else if (status === 'failed')
    notify(typeof error === 'string' ? error : (error?.message ?? 'It failed.'), { isError: true })
  else notify('It is still running. The result appears here when it is done.')
}

function dismiss(id: number): void {
  notices.set(notices.value.filter(notice => notice.id !== id))
}

export function Notices() {
  const shown = useSignal(notices)
  return (
    <div class="notices" role="status" aria-live="polite">
      {shown.map(({ id, text, isError }) => (
        <p key={id} class={isError ? 'notice bad' : 'notice'}>
          {text}
          <button class="plain" aria-label={texts.close} onClick={() => dismiss(id)}>
            <Icon name="close" />
          </button>
        </p>
      ))}
    </div>
  )
}
