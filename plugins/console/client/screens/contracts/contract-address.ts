export const BASE = '/contracts'

export const contractAddress = (name: string, tab = '') =>
  `${BASE}/${encodeURIComponent(name)}${tab && `?tab=${tab}`}`
