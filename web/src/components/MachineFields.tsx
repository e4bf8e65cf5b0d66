import type { MachineStatus } from '../api/types'
import { useLive } from '../api/useLive'
import type { MachineDraft } from '../lib/machineDraft'
import { draftId } from '../lib/machineDraft'
import { t } from '../i18n'

interface Props {
  draft: MachineDraft
  /** Of a machine that exists, the id stays. */
  withId: boolean
  onChange: (part: Partial<MachineDraft>) => void
}

/** What the machine is called, where it is, and who looks after it. */
export function MachineFields({ draft, withId, onChange }: Props) {
  const { name, site, group, type } = draft
  return (
    <>
      <label>
        {t('add.name')}
        <input
          required
          autoFocus={withId}
          value={name}
          placeholder={t('add.nameExample')}
          onChange={(event) => onChange({ name: event.target.value })}
        />
      </label>
      <label>
        {t('add.site')}
        <input
          value={site}
          list="known-sites"
          placeholder={t('add.siteExample')}
          onChange={(event) => onChange({ site: event.target.value })}
        />
      </label>
      <label>
        {t('setup.fields.group')}
        <input
          value={group}
          maxLength={64}
          list="known-groups"
          placeholder={t('setup.fields.groupPlaceholder')}
          onChange={(event) => onChange({ group: event.target.value })}
        />
      </label>
      <label>
        {t('setup.fields.type')}
        <input
          value={type}
          list="known-types"
          placeholder={t('setup.fields.typePlaceholder')}
          onChange={(event) => onChange({ type: event.target.value })}
        />
      </label>
      {withId && (
        <label>
          {t('add.id')}
          <input
            required
            pattern="[a-z0-9][a-z0-9_\-]{0,63}"
            title={t('add.idRule')}
            value={draftId(draft)}
            onChange={(event) => onChange({ id: event.target.value })}
          />
        </label>
      )}
      {/* A group that is typed in two ways is two groups, and one of them may be told to nobody. */}
      <Known id="known-sites" of={(machine) => machine.site} />
      <Known id="known-groups" of={(machine) => machine.group} />
      <Known id="known-types" of={(machine) => machine.type} />
    </>
  )
}

/** What other machines have, to choose from while typing. */
function Known({ id, of }: { id: string; of: (machine: MachineStatus) => string }) {
  const values = new Set(Object.values(useLive().machines).map(of).filter(Boolean))
  return (
    <datalist id={id}>
      {[...values].sort().map((value) => (
        <option key={value} value={value} />
      ))}
    </datalist>
  )
}
