import { lazy, Suspense } from 'react'
import type { ModelInfo } from '../api/types'
import { url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { EmptyState } from '../components/EmptyState'
import { plural } from '../lib/numbers'

const Markdown = lazy(() => import('../components/Markdown'))

function facts({ system, sections, recordings, version }: ModelInfo): string {
  const texts = [`model: ${system}`, plural(sections.length, 'section')]
  if (recordings > 0) texts.push(`learned from ${plural(recordings, 'normal recording')}`)
  if (version) texts.push(`ssdpt ${version}`)
  return texts.join(' · ')
}

export function ModelsPage() {
  const { content, error } = useFetched<ModelInfo[]>(url('models'))
  return (
    <div className="narrow">
      <h1>Models</h1>
      {content?.length ? (
        content.map((model) => (
          <details key={model.machine} className="panel model" open={content.length === 1}>
            <summary>
              <strong>{model.machine}</strong>
              <span className="soft">{facts(model)}</span>
            </summary>
            <Suspense fallback={<p className="plain">Loading…</p>}>
              <Markdown text={model.card_markdown} />
            </Suspense>
          </details>
        ))
      ) : (
        <EmptyState title={error || (content ? 'No models yet.' : 'Loading…')}>
          {content && <p>Learn a baseline on the page of a machine, or name a model of `ssdpt fit` in the configuration file.</p>}
        </EmptyState>
      )}
    </div>
  )
}
