import { formatAgo, formatTime } from '../lib/format.ts'

/** How long ago a moment is; the moment itself is its title. */
export function Ago({ at }: { at: string | null | undefined }) {
  if (at == null) return <span class="quiet">–</span>
  return (
    <time datetime={at} title={formatTime(at)}>
      {formatAgo(at)}
    </time>
  )
}
