import { createSignal } from './signal.ts'

/** The token of the link that opened the page. It does not stay in the address. */
export const linkToken = createSignal('')
