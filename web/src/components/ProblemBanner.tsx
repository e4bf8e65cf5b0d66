import { useLive } from '../api/useLive'
import { t } from '../i18n'
import { allTranslated } from '../lib/sentences'

/** What is wrong with the service itself, while it is. */
export function ProblemBanner() {
  const service = useLive().service
  const problems = service ? allTranslated(service.problems, service.problem_sentences) : []
  if (!problems.length) return null
  return (
    <div className="service-problems" role="alert">
      <strong>{t('common.needsAttention')}</strong>
      <ul>
        {problems.map((problem) => (
          <li key={problem}>{problem}</li>
        ))}
      </ul>
    </div>
  )
}
