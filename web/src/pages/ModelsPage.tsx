import { lazy, Suspense } from 'react'
import type { ModelInfo } from '../api/types'
import { url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { useLive } from '../api/useLive'
import { EmptyState } from '../components/EmptyState'
import { t } from '../i18n'

const Markdown = lazy(() => import('../components/Markdown'))

function facts({ machine, system, sections, recordings, version }: ModelInfo): string {
  const texts = [machine, t('models.model', { system }), t('models.sections', { count: sections.length })]
  if (recordings > 0) texts.push(t('models.learnedFrom', { count: recordings }))
  if (version) texts.push(`ssdpt ${version}`)
  return texts.join(' · ')
}

export function ModelsPage() {
  const { content, error } = useFetched<ModelInfo[]>(url('models'))
  const { machines } = useLive()
  const nameOf = (id: string) => machines[id]?.name || id
  const sorted = [...(content ?? [])].sort((one, other) => nameOf(one.machine).localeCompare(nameOf(other.machine)))
  return (
    <div className="narrow">
      <h1>{t('models.title')}</h1>
      {sorted.length ? (
        sorted.map((model) => (
          <details key={model.machine} className="panel model" open={sorted.length === 1}>
            <summary>
              <h2>{nameOf(model.machine)}</h2>
              <span className="soft">{facts(model)}</span>
            </summary>
            <Suspense fallback={<p className="plain">{t('common.loading')}</p>}>
              <Markdown text={model.card_markdown} />
            </Suspense>
          </details>
        ))
      ) : (
        <EmptyState title={error || (content ? t('models.none') : t('common.loading'))}>
          {content && <p>{t('models.howTo')}</p>}
        </EmptyState>
      )}
    </div>
  )
}
