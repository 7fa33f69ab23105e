import { useState } from 'preact/hooks'
import type { ManagedBy } from 'tidemark/client'
import { ManagedNote } from '../../checks/managed-note.ts'
import { CopyButton } from '../../forms/secret.ts'
import { isMissing } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { html } from '../../lib/html.ts'
import { Help } from '../../parts/help.ts'
import { Loaded } from '../../parts/states.ts'
import { codeTexts } from './texts.ts'
import { loadCode } from './requests.ts'

interface Props {
  source: string
  /** The id of a check, or of a freshness schedule. */
  id: string
  owner?: ManagedBy
}

/** A check as a monitors file has it, and what manages it. */
export function AsCode(props: Props) {
  const [isOpen, setOpen] = useState(false)
  return html`<${ManagedNote} owner=${props.owner} />
    <details
      class="as-code"
      onToggle=${(event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}
    >
      <summary>${codeTexts.asCode}</summary>
      ${isOpen && html`<${Code} ...${props} />`}
    </details>`
}

function Code({ source, id }: Props) {
  const code = useData(`code ${id}`, signal => loadCode(source, id, signal))
  // The document of a contract is the code of its checks.
  if (isMissing(code.error)) return html`<p class="quiet">${codeTexts.ofContract}</p>`
  return html`<${Loaded} of=${code} what=${codeTexts.asCode.toLowerCase()} rows=${5}>
    ${(text: string) =>
      html`<p class="quiet">${codeTexts.apply}<${Help} page="monitors" about=${codeTexts.asCode} /></p>
        <pre class="document" tabindex="0" role="region" aria-label=${codeTexts.asCode}>${text}</pre>
        <p><${CopyButton} text=${text} label=${codeTexts.copy} /></p>`}
  <//>`
}
