import { html } from '../lib/html.ts'

/** Outlines on a grid of 16 pixels. */
const PATHS = {
  overview: 'M2 9.5 8 3l6 6.5M4 8v5.5h8V8M6.5 13.5v-3h3v3',
  alerts: 'M8 2a4 4 0 0 0-4 4v3l-1.5 2.5h11L12 9V6a4 4 0 0 0-4-4M6.5 13.5a1.5 1.5 0 0 0 3 0',
  catalog: 'M2.5 3h11v10h-11zM2.5 6.5h11M6.5 6.5V13',
  sources:
    'M3 4c0-1.1 2.2-2 5-2s5 .9 5 2-2.2 2-5 2-5-.9-5-2M3 4v8c0 1.1 2.2 2 5 2s5-.9 5-2V4M3 8c0 1.1 2.2 2 5 2s5-.9 5-2',
  changes: 'M3 5h8M8.5 2.5 11 5 8.5 7.5M13 11H5M7.5 8.5 5 11l2.5 2.5',
  settings:
    'M8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4M8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6 5 5M11 11l1.4 1.4M12.4 3.6 11 5M5 11l-1.4 1.4',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9M10.3 10.3 14 14',
  guide:
    'M8 4c-1-1-2.700-1.500-5.500-1.500v10c2.800 0 4.500.500 5.500 1.500 1-1 2.700-1.500 5.500-1.500v-10C10.700 2.500 9 3 8 4M8 4v10',
  help: 'M8 14.300A6.300 6.300 0 1 0 8 1.700a6.300 6.300 0 0 0 0 12.600M6.200 6.300C6.300 5.200 7 4.700 8 4.700s1.800.600 1.800 1.600c0 1.400-1.800 1.500-1.800 2.900M8 11.300v.05',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.500 6.500 12 13 4.500',
  next: 'M6 3.500 10.500 8 6 12.500',
  user: 'M8 8a2.800 2.800 0 1 0 0-5.600A2.800 2.800 0 0 0 8 8M2.800 14c.4-2.600 2.500-4 5.200-4s4.800 1.400 5.200 4',
  key: 'M9.500 6.500a3 3 0 1 1-3-3 3 3 0 0 1 3 3M8.700 8.700 13.500 13.500M11 11l1.500-1.500',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M8 4.500V8l2.500 1.500',
} as const

export type IconName = keyof typeof PATHS

/** A picture beside a word; it says nothing by itself. */
export function Icon({ name }: { name: IconName }) {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=${PATHS[name]} /></svg>`
}
