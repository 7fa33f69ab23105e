import { shortenMiddle } from './short-name.ts'

/** A link to what a name stands for, short; the whole name is read to screen readers and shown on hover. */
export function NameLink({
  href,
  name,
  short = name,
  max,
}: {
  href: string
  name: string
  short?: string | undefined
  max?: number
}) {
  const text = shortenMiddle(short, max)
  const whole = text === name ? undefined : name
  // A label has to contain what is seen; what is shortened in its middle has its whole name in the title alone.
  const label = whole?.includes(text) ? whole : undefined
  return (
    <a href={href} title={whole} aria-label={label}>
      <bdi>{text}</bdi>
    </a>
  )
}
