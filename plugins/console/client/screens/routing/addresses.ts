import { withQuery } from '../../lib/router.ts'

export const RULES_ADDRESS = '/routing?tab=rules'
export const destinationAddress = (id: string, query: Record<string, string | null> = {}) =>
  withQuery(`/routing/${id}`, query)
/** @param id of a rule, or `new` */
export const ruleAddress = (id: string) => withQuery('/routing', { tab: 'rules', rule: id })
export const DIGESTS_ADDRESS = '/routing?tab=digests'
/** @param id of a digest, or `new` */
export const digestAddress = (id: string) => withQuery('/routing', { tab: 'digests', digest: id })
export const MUTE_ADDRESS = '/routing?tab=mute'
/** @param id of a mute window, or `new` */
export const muteAddress = (id: string) => withQuery('/routing', { tab: 'mute', window: id })
