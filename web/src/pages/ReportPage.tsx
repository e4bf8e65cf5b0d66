import type { WeeklyReport } from '../api/types'
import { url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { useNow, useTimezone } from '../api/useLive'
import { EmptyState } from '../components/EmptyState'
import { ErrorMessage } from '../components/ErrorMessage'
import { WeekReport } from '../components/WeekReport'
import { t } from '../i18n'
import { go, link, useRoute } from '../lib/route'
import { day, isoDay } from '../lib/time'
import { daysOf, shifted, weekOf } from '../lib/weeks'

const WEEKS = 53 // that can be chosen

function weekName(week: string): string {
  const [first, last] = daysOf(week).map((date) => day(Date.parse(date) / 1000, 'UTC'))
  return t('report.weekName', { week, first: first ?? '', last: last ?? '' })
}

/** What happened in a week: to read, to print, or as a PDF file. */
export function ReportPage() {
  const { query } = useRoute()
  const zone = useTimezone()
  const present = weekOf(isoDay(useNow(60), zone))
  const given = query.get('week') ?? ''
  const week = /^\d{4}-W\d\d$/.test(given) ? given : present
  const { content, error } = useFetched<WeeklyReport>(url('report', { week }))
  const report = content?.week === week ? content : null
  const choose = (chosen: string) => go(link('report', '', { week: chosen }))
  const weeks = [...new Set([week, ...Array.from({ length: WEEKS }, (_, number) => shifted(present, -number))])].sort().reverse()
  return (
    <>
      <div className="toolbar report-tools">
        <h1>{t('report.title')}</h1>
        <div className="buttons">
          <span className="group">
            <button type="button" aria-label={t('report.earlier')} onClick={() => choose(shifted(week, -1))}>
              ‹
            </button>
            <button type="button" aria-label={t('report.later')} disabled={week >= present} onClick={() => choose(shifted(week, 1))}>
              ›
            </button>
          </span>
          <label className="inline long-choice">
            {t('report.week')}{' '}
            <select value={week} onChange={(event) => choose(event.target.value)}>
              {weeks.map((each) => (
                <option key={each} value={each}>
                  {weekName(each)}
                </option>
              ))}
            </select>
          </label>
          <a className="button" href={url('report.pdf', { week })} download={`report-${week}.pdf`}>
            {t('report.pdf')}
          </a>
          <button type="button" onClick={() => window.print()}>
            {t('report.print')}
          </button>
        </div>
      </div>
      <ErrorMessage message={error} />
      {report ? <WeekReport report={report} title={weekName(week)} /> : !error && <EmptyState title={t('common.loading')} />}
    </>
  )
}
