import { texts } from '../texts.ts'
import { Icon } from './icons.tsx'

/** A link to the part of the documentation that explains what stands beside it. @param page such as `drift#impact` */
export function Help({ page, about }: { page: string; about: string }) {
  const [name, section] = page.split('#')
  return (
    <a
      class="help"
      href={`/guide/${name}${section ? `#${section}` : ''}`}
      target="_blank"
      aria-label={texts.helpAbout(about)}
      title={texts.helpAbout(about)}
    >
      <Icon name="help" />
    </a>
  )
}
