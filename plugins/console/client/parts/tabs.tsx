import { useLayoutEffect, useRef } from 'preact/hooks'
import { withQuery } from '../lib/router.ts'

export interface Tab {
  id: string
  name: string
  /** A number beside the name, if there is something to see. */
  count?: number
  /** Where it is, if not in the query of the page. */
  href?: string
}

/**
 * Links to the parts of a page; the first is not in the query.
 * @param filters the query of a list, which they keep but for its place
 */
export function Tabs({
  tabs,
  current,
  label,
  filters,
}: {
  tabs: readonly Tab[]
  current: string
  label: string
  filters?: URLSearchParams
}) {
  const nav = useRef<HTMLElement>(null)
  // By hand: scrollIntoView scrolls the page, too.
  useLayoutEffect(() => {
    const { current: bar } = nav
    const link = bar?.querySelector<HTMLElement>('[aria-current]')
    if (bar && link) bar.scrollLeft = link.offsetLeft - (bar.clientWidth - link.offsetWidth) / 2
  }, [current, tabs.map(({ name, count }) => `${name} ${count}`).join()])
  return (
    <nav ref={nav} class="tabs" aria-label={label}>
      {tabs.map(({ id, name, count, href }, n) => (
        <a
          key={id}
          href={href ?? withQuery(location.pathname, { tab: n === 0 ? null : id, offset: null }, filters)}
          aria-current={id === current ? 'page' : undefined}
        >
          {name}
          {count ? (
            <>
              {' '}
              <span class="count">{count}</span>
            </>
          ) : null}
        </a>
      ))}
    </nav>
  )
}
