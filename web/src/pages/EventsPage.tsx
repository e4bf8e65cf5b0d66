import { useEvents } from '../api/useEvents'
import { useTimezone } from '../api/useLive'
import { AcknowledgeAll } from '../components/AcknowledgeAll'
import { EmptyState } from '../components/EmptyState'
import { ErrorMessage } from '../components/ErrorMessage'
import { EventFilters } from '../components/EventFilters'
import { EventGroups } from '../components/EventGroups'
import { EventTable } from '../components/EventTable'
import { t } from '../i18n'
import { filterOf, isFiltered, searchLink, searchOf, type EventSearch } from '../lib/eventSearch'
import { go, link, useRoute } from '../lib/route'
import { useAction } from '../lib/useAction'

const PAGE_SIZE = 50

export function EventsPage() {
  const { query } = useRoute()
  const search = searchOf(query)
  return (
    <>
      <div className="toolbar">
        <h1>{t('events.title')}</h1>
      </div>
      <EventFilters search={search} onChange={(part) => go(searchLink({ ...search, ...part }))} />
      {search.grouped ? <EventGroups search={search} /> : <EventList search={search} />}
    </>
  )
}

/** Events one by one, the newest first. */
function EventList({ search }: { search: EventSearch }) {
  const zone = useTimezone()
  const { events, error: loadError, hasMore, fetchMore } = useEvents(filterOf(search, zone), PAGE_SIZE)
  const { run, busy, error } = useAction()
  return (
    <>
      <ErrorMessage message={loadError || error} />
      <AcknowledgeAll key={searchLink(search)} events={(events ?? []).filter((event) => event.state === 'active')} />
      {events?.length ? (
        <>
          <EventTable events={events} withMachine />
          {hasMore && (
            <button type="button" className="more" disabled={busy} onClick={() => void run(fetchMore)}>
              {t('events.older')}
            </button>
          )}
        </>
      ) : (
        <EmptyState title={events ? t('events.none') : t('common.loading')}>
          {isFiltered(search) && <a href={link('events')}>{t('events.showAll')}</a>}
        </EmptyState>
      )}
    </>
  )
}
