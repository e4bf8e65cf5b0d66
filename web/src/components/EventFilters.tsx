import { useEffect, useState } from 'react'
import { useLive } from '../api/useLive'
import { named, t } from '../i18n'
import { isFiltered, type EventSearch } from '../lib/eventSearch'
import { link } from '../lib/route'
import { KIND_NAMES, STATE_NAMES } from '../lib/states'

const LABELS = named('history.filters.labels', ['normal', 'fault', 'none'])
const TYPING_PAUSE = 400 // milliseconds after which a search begins

interface ChoiceProps {
  title: string
  value: string
  names: [string, string][]
  onChange: (value: string) => void
}

function Choice({ title, value, names, onChange }: ChoiceProps) {
  return (
    <label>
      {title}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{t('events.all')}</option>
        {names.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

interface Props {
  search: EventSearch
  onChange: (part: Partial<EventSearch>) => void
}

/** Which events are listed. */
export function EventFilters({ search, onChange }: Props) {
  const { machines } = useLive()
  const [text, setText] = useState(search.text)
  useEffect(() => setText(search.text), [search.text])
  useEffect(() => {
    if (text.trim() === search.text) return
    const timer = window.setTimeout(() => onChange({ text: text.trim() }), TYPING_PAUSE)
    return () => window.clearTimeout(timer)
  }, [text])
  return (
    <form className="filters" role="search" aria-label={t('history.filters.label')} onSubmit={(event) => event.preventDefault()}>
      <label className="search">
        {t('history.filters.search')}
        <input
          type="search"
          maxLength={200}
          value={text}
          placeholder={t('history.filters.searchHint')}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <Choice
        title={t('events.machine')}
        value={search.machine}
        names={Object.values(machines).map((each) => [each.id, each.name || each.id])}
        onChange={(machine) => onChange({ machine })}
      />
      <Choice title={t('events.kind')} value={search.kind} names={Object.entries(KIND_NAMES)} onChange={(kind) => onChange({ kind })} />
      <Choice
        title={t('history.filters.level')}
        value={search.level}
        names={[
          ['alert', STATE_NAMES.alert],
          ['alarm', STATE_NAMES.alarm],
        ]}
        onChange={(level) => onChange({ level })}
      />
      <Choice title={t('history.filters.labelled')} value={search.label} names={Object.entries(LABELS)} onChange={(label) => onChange({ label })} />
      <label>
        {t('history.filters.from')}
        <input type="date" value={search.from} max={search.to || undefined} onChange={(event) => onChange({ from: event.target.value })} />
      </label>
      <label>
        {t('history.filters.to')}
        <input type="date" value={search.to} min={search.from || undefined} onChange={(event) => onChange({ to: event.target.value })} />
      </label>
      <div className="buttons">
        <label className="inline">
          <input
            type="checkbox"
            checked={search.open === 'true'}
            onChange={(event) => onChange({ open: event.target.checked ? 'true' : '' })}
          />{' '}
          {t('events.onlyOpen')}
        </label>
        <label className="inline">
          <input
            type="checkbox"
            checked={search.grouped === 'true'}
            onChange={(event) => onChange({ grouped: event.target.checked ? 'true' : '' })}
          />{' '}
          {t('history.filters.group')}
        </label>
        {search.fault && <span className="tag">{t('history.filters.fault', { fault: search.fault })}</span>}
        {search.unnamed && <span className="tag">{t('history.filters.unnamed')}</span>}
        {isFiltered(search) && <a href={link('events', '', { grouped: search.grouped })}>{t('history.filters.clear')}</a>}
      </div>
    </form>
  )
}
