import type { DigestContent, DigestPreviewRequest } from 'tidemark/client'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { Loaded } from '../../parts/states.tsx'
import { digestTexts } from './digest-texts.ts'

/** What a digest of the last day or week would say; it follows the form. */
export function DigestPreview({ body }: { body: DigestPreviewRequest }) {
  const key = JSON.stringify(body)
  const asked = useData(`digest preview ${key}`, async signal => {
    return (await api.post('/api/v1/sdk/alerts/digests/preview', { body, signal })).data
  })
  return (
    <section class="side preview" aria-labelledby="digest-preview" aria-busy={asked.isLoading}>
      <h2 id="digest-preview">{digestTexts.previewTitle}</h2>
      <Loaded of={asked} what={digestTexts.previewTitle.toLowerCase()} rows={6}>
        {({ heading, sentence, sections }: DigestContent) => (
          <>
            <p>
              <strong>{heading}</strong>
            </p>
            <p class="quiet">{sentence}</p>
            {sections.map(({ name, title, lines }) => (
              <>
                <h3 key={name}>{title}</h3>
                <ul class="previewed">
                  {lines.map(({ text, url }) => (
                    <li key={text}>
                      <bdi>{url ? <a href={url}>{text}</a> : text}</bdi>
                    </li>
                  ))}
                </ul>
              </>
            ))}
          </>
        )}
      </Loaded>
    </section>
  )
}
