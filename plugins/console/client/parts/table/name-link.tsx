import { shortenMiddle } from './short-name.ts'

/** A link to what a name stands for, short; the whole name is read to screen readers and shown on hover. */
export function NameLink({ href, name, short = name }: { href: string; name: string; short?: string }) {
  const text = shortenMiddle(short)
  const whole = text === name ? undefined : name
  return (
    <a href={href} title={whole} aria-label={whole}>
      <bdi>{text}</bdi>
    </a>
  )
}
