import type { DigestContent, DigestPreviewRequest } from 'tidemark/client'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { html } from '../../lib/html.ts'
import { Loaded } from '../../parts/states.ts'
import { digestTexts } from './digest-texts.ts'

/** What a digest of the last day or week would say; it follows the form. */
export function DigestPreview({ body }: { body: DigestPreviewRequest }) {
  const key = JSON.stringify(body)
  const asked = useData(`digest preview ${key}`, async signal => {
    return (await api.post('/api/v1/sdk/alerts/digests/preview', { body, signal })).data
  })
  return html`<section class="side preview" aria-labelledby="digest-preview" aria-busy=${asked.isLoading}>
    <h2 id="digest-preview">${digestTexts.previewTitle}</h2>
    <${Loaded} of=${asked} what=${digestTexts.previewTitle.toLowerCase()} rows=${6}>
      ${({ heading, sentence, sections }: DigestContent) =>
        html`<p><strong>${heading}</strong></p>
          <p class="quiet">${sentence}</p>
          ${sections.map(
            ({ name, title, lines }) =>
              html`<h3 key=${name}>${title}</h3>
                <ul class="previewed">
                  ${lines.map(
                    ({ text, url }) =>
                      html`<li key=${text}><bdi>${url ? html`<a href=${url}>${text}</a>` : text}</bdi></li>`,
                  )}
                </ul>`,
          )}`}
    <//>
  </section>`
}
