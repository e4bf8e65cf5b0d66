import { useEffect, useState } from 'react'
import { post, url } from '../api/client'
import type { OutputInfo, OutputTest } from '../api/types'
import { useFetched } from '../api/useFetched'
import { useHasRole, useLive, useNow, useTimezone } from '../api/useLive'
import { t } from '../i18n'
import { toldNobody } from '../lib/outputs'
import { moment } from '../lib/time'
import { useAction } from '../lib/useAction'
import { ErrorMessage } from './ErrorMessage'
import { Panel } from './Panel'
import { StateIcon } from './StateIcon'
import { said } from '../lib/sentences'

const REFRESH = 5000 // milliseconds

/** Who is notified, whether that works, and a test message for each. */
export function Outputs() {
  const { content, error, refetch } = useFetched<OutputInfo[]>(url('outputs'))
  const unheard = toldNobody(content ?? [], Object.values(useLive().machines))
  useEffect(() => {
    const timer = setInterval(refetch, REFRESH)
    return () => clearInterval(timer)
  }, [refetch])
  return (
    <Panel title={t('outputs.title')}>
      {content?.length === 0 && <p className="plain">{t('outputs.none')}</p>}
      {unheard.length > 0 && (
        <p className="offer">
          {t('outputs.toldNobody', { machines: unheard.map((machine) => machine.name || machine.id).join(t('common.comma')) })}
        </p>
      )}
      {content?.map((output) => (
        <Output key={`${output.number} ${output.name}`} output={output} tested={refetch} />
      ))}
      <ErrorMessage message={error} />
    </Panel>
  )
}

function Output({ output, tested }: { output: OutputInfo; tested: () => void }) {
  const now = useNow(10)
  const timezone = useTimezone()
  const lastSuccess = output.last_success
  return (
    <article className="output" aria-label={output.name}>
      <h3>{output.name}</h3>
      <p className={output.healthy ? 'health' : 'health failing'}>
        <StateIcon state={!output.healthy ? 'alert' : output.last_success === null ? 'starting' : 'normal'} />
        <span>{health(output)}</span>
      </p>
      <dl className="facts">
        {output.groups.length > 0 && (
          <>
            <dt>{t('outputs.groups')}</dt>
            <dd>{output.groups.join(t('common.comma'))}</dd>
          </>
        )}
        {output.quiet_until !== null && (
          <>
            <dt>{t('outputs.quietHours')}</dt>
            <dd>{t('outputs.quietUntil', { time: moment(output.quiet_until, now, timezone) })}</dd>
          </>
        )}
        <dt>{t('outputs.lastSuccess')}</dt>
        <dd>{lastSuccess === null ? t('outputs.never') : moment(lastSuccess, now, timezone)}</dd>
        <dt>{t('outputs.counts')}</dt>
        <dd>{counts(output)}</dd>
      </dl>
      <TestButton output={output} tested={tested} />
    </article>
  )
}

function health(output: OutputInfo): string {
  if (!output.healthy) return t('outputs.failing', { message: said(output) })
  return output.last_success === null ? t('outputs.unused') : t('outputs.working')
}

/** Such as `12 sent, 2 waiting`: what never happened is not mentioned. */
function counts({ sent, queued, failed, dropped }: OutputInfo): string {
  return [
    t('outputs.sent', { count: sent }),
    queued > 0 && t('outputs.queued', { count: queued }),
    failed > 0 && t('outputs.failed', { count: failed }),
    dropped > 0 && t('outputs.dropped', { count: dropped }),
  ]
    .filter(Boolean)
    .join(t('common.comma'))
}

function TestButton({ output, tested }: { output: OutputInfo; tested: () => void }) {
  const isAdmin = useHasRole('admin')
  const { busy, error, run } = useAction()
  const [result, setResult] = useState<OutputTest | null>(null)
  if (!isAdmin) return null
  const test = async () => {
    setResult(null)
    await run(async () => setResult(await post<OutputTest>(url(`outputs/${output.number}/test`))))
    tested()
  }
  return (
    <>
      <div className="buttons">
        <button
          type="button"
          disabled={busy}
          aria-label={t('outputs.testOf', { name: output.name })}
          onClick={() => void test()}
        >
          {t('outputs.test')}
        </button>
      </div>
      <div role="status">
        {busy && <p className="plain">{t('outputs.testing')}</p>}
        {result?.ok && <p className="plain">{t('outputs.testOk', { message: said(result) })}</p>}
      </div>
      <ErrorMessage
        message={error || (result && !result.ok ? t('outputs.testFailed', { message: said(result) }) : '')}
      />
    </>
  )
}
