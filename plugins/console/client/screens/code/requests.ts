import { api } from '../../lib/api.ts'

/** The monitors file of a source, in YAML. @param check the id of the only check that it has */
export async function loadCode(
  source: string,
  check: string | undefined,
  signal?: AbortSignal,
): Promise<string> {
  const reply: unknown = await api.get('/api/v1/sdk/monitors/{asset_id}', {
    path: { asset_id: source },
    query: { check_id: check },
    headers: { accept: 'application/yaml' },
    signal,
  })
  return String(reply)
}

/** Saves the monitors file of a source with the downloads of the browser. */
export async function downloadCode(source: string): Promise<void> {
  const text = await loadCode(source, undefined)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/yaml' }))
  link.download = `${source.replaceAll(/[^\w.-]+/g, '-')}.yaml`
  link.click()
  URL.revokeObjectURL(link.href)
}
