import type { LineSet } from '../api/types'
import { t } from '../i18n'
import { peakNear, levelAt, shortName, type Levels } from '../lib/diagnosis'
import { figures, fixed } from '../lib/numbers'

interface Props {
  lines: LineSet
  envelope: Levels | null
}

/** The calculated frequencies of a machine, with what the envelope shows there. */
export function LineTable({ lines, envelope }: Props) {
  const { speed_rpm } = lines
  if (!lines.lines.length || speed_rpm === null) return null
  return (
    <details className="line-table">
      <summary>{t('diagnosis.table')}</summary>
      <div className="scroll" tabIndex={0} role="region" aria-label={t('diagnosis.table')}>
        <table>
          <thead>
            <tr>
              {['line', 'hz', 'order', 'sidebands', 'now'].map((key) => (
                <th key={key} scope="col">
                  {t(`diagnosis.columns.${key}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lines.lines.map((line) => {
              const reach = envelope ? Math.ceil((line.tolerance * line.hz) / envelope.spacing) : 0
              const level = envelope && levelAt(envelope, peakNear(envelope, line.hz, reach))
              return (
                <tr key={`${line.kind} ${line.part}`}>
                  <th scope="row">{shortName(line)}</th>
                  <td>{figures(line.hz, 4)}</td>
                  <td>{figures((line.hz * 60) / speed_rpm, 4)}</td>
                  <td>{line.sideband_hz === null ? '–' : figures(line.sideband_hz, 4)}</td>
                  <td>{level === null ? '–' : fixed(level, 0)}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </details>
  )
}
