import type { Model } from '../api/types'
import { url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { useZone } from '../api/useLive'
import { Empty } from '../components/Empty'
import { Markdown } from '../components/Markdown'
import { plural } from '../lib/numbers'
import { day } from '../lib/time'

function facts(model: Model, zone: string): string[] {
  const known = [model.machine, model.system, plural(model.sections.length, 'section')]
  if (typeof model.clips === 'number') known.push(plural(model.clips, 'clip'))
  if (typeof model.made === 'number') known.push(day(model.made, zone))
  if (typeof model.made === 'string') known.push(`made by ssdpt ${model.made}`)
  return known.filter(Boolean)
}

export function ModelsPage() {
  const { content, error } = useFetched<Model[]>(url('models'))
  const zone = useZone()
  return (
    <div className="narrow">
      <h1>Models</h1>
      {content?.length ? (
        content.map((model) => (
          <details key={model.id} className="panel model" open={content.length === 1}>
            <summary>
              <strong>{model.id}</strong>
              <span className="soft">
                {facts(model, zone).join(' · ')}
              </span>
            </summary>
            <Markdown text={model.card_markdown} />
          </details>
        ))
      ) : (
        <Empty title={error || (content ? 'No models in use.' : 'Loading…')}>
          {content && <p>Machines then learn a baseline of their own. A model made by `ssdpt fit` is named in plant.yaml.</p>}
        </Empty>
      )}
    </div>
  )
}
