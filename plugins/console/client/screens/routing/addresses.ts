import { withQuery } from '../../lib/router.ts'

export const RULES_ADDRESS = '/routing?tab=rules'
export const destinationAddress = (id: string, query: Record<string, string | null> = {}) =>
  withQuery(`/routing/${id}`, query)
/** @param id of a rule, or `new` */
export const ruleAddress = (id: string) => withQuery('/routing', { tab: 'rules', rule: id })
