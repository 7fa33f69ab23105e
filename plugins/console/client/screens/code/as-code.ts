import { useState } from 'preact/hooks'
import { CopyButton } from '../../forms/secret.ts'
import { isMissing } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { html } from '../../lib/html.ts'
import { Dialog } from '../../parts/dialog.ts'
import { Loaded } from '../../parts/states.ts'
import { loadCode } from './requests.ts'
import { codeTexts } from './texts.ts'

interface CodeProps {
  source: string
  /** The id of a check, or of a freshness schedule. */
  id: string
}

/** A button that shows a check as a monitors file has it. */
export function AsCode(props: CodeProps) {
  const [isOpen, setOpen] = useState(false)
  return html`<button onClick=${() => setOpen(true)}>${codeTexts.asCode}</button> ${
      isOpen &&
      html`<${Dialog} title=${codeTexts.asCode} close=${() => setOpen(false)}><${Code} ...${props} /><//>`
    }`
}

function Code({ source, id }: CodeProps) {
  const code = useData(`code ${id}`, signal => loadCode(source, id, signal))
  // The document of a contract is the code of its checks.
  if (isMissing(code.error)) return html`<p>${codeTexts.ofContract}</p>`
  return html`<${Loaded} of=${code} what=${codeTexts.asCode.toLowerCase()} rows=${5}>
    ${(text: string) =>
      html`<p>${codeTexts.apply}</p>
        <p><a href="/guide/monitors">${codeTexts.guide}</a></p>
        <pre class="document" tabindex="0" role="region" aria-label=${codeTexts.file}>${text}</pre>
        <p><${CopyButton} text=${text} label=${codeTexts.copy} /></p>`}
  <//>`
}
