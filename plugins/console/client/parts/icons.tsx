import { ICON_PATHS, type IconName } from './icon-paths.ts'

/** A picture beside a word; it says nothing by itself. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={ICON_PATHS[name]} />
    </svg>
  )
}
